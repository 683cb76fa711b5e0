/* report/contract-text.h - writes a comparison of two surfaces as text for a terminal or a
 * log. */
#ifndef REPORT_CONTRACT_TEXT_H
#define REPORT_CONTRACT_TEXT_H

#include "report/contract-report.h"

struct contract_text_options {
    bool color;
    size_t width; /* columns of the terminal; 0: none */
};

/* Appends all of it. Text of servers and files is escaped. */
void contract_text_write(struct buf *to, const struct contract_report *r,
                         const struct contract_text_options *options);

/* The same without the first line, which has the names and counts. */
void contract_text_write_changes(struct buf *to, const struct contract_report *r,
                                 const struct contract_text_options *options);

#endif
