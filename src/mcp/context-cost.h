/* mcp/context-cost.h - estimates what a text costs in the context of a language model.
 *
 * The bytes of a definition or a result are exact; tokens depend on the model, which mcpreel
 * does not know. The estimate is one token for four bytes, rounded up. Label it as an estimate
 * wherever it is shown. */
#ifndef MCP_CONTEXT_COST_H
#define MCP_CONTEXT_COST_H

#include <stdint.h>

uint64_t mcp_context_tokens(uint64_t bytes);

#endif
