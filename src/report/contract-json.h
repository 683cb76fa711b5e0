/* report/contract-json.h - writes a comparison of two surfaces as one JSON object on one
 * line. */
#ifndef REPORT_CONTRACT_JSON_H
#define REPORT_CONTRACT_JSON_H

#include "report/contract-report.h"
#include "json/write.h"

/* Appends the object and a newline; docs/json-output.md describes it. */
void contract_json_write(struct buf *to, struct str command, const struct contract_report *r);

/* Appends the members of the object that are about the comparison, from `profile` to `summary`,
 * for a command that writes more than these. */
void contract_json_write_members(struct json_out *o, const struct contract_report *r);

#endif
