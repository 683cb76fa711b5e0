#include "mcp/context-cost.h"

enum { BYTES_PER_TOKEN = 4 };

uint64_t mcp_context_tokens(uint64_t bytes)
{
    return bytes / BYTES_PER_TOKEN + (bytes % BYTES_PER_TOKEN != 0);
}
