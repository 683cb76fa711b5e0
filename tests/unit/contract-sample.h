/* tests/unit/contract-sample.h - a comparison of two small surfaces, for tests of reports: a
 * tool was removed, which is allowed; a required property was added, which affects the call
 * #7; a title changed; one side does not know the prompts. */
#ifndef CONTRACT_SAMPLE_H
#define CONTRACT_SAMPLE_H

#include "diff/lock-file.h"
#include "report/contract-report.h"
#include "terse.h"
#include "test.h"

struct contract_sample {
    struct surface before, after;
    struct contract_changes changes;
    struct contract_traffic traffic;
    struct compare_rules rules;
    struct contract_report report;
};

static inline void contract_sample_read(struct surface *s, const char *text)
{
    struct terse_scanned t;
    struct err e = ERR_NONE;

    surface_init(s);
    if (!lock_file_read_value(s, terse_scan(&t, text), &e))
        fail_msg("%s", e.msg);
    terse_scanned_release(&t);
}

static inline void contract_sample_init(struct contract_sample *s)
{
    struct terse_scanned params;
    struct err e = ERR_NONE;

    contract_sample_read(&s->before,
                         "{'tools':[{'name':'old','title':'O'},{'name':'search','title':"
                         "'A','inputSchema':{'type':'object'}}],'prompts':[]}");
    contract_sample_read(&s->after, "{'tools':[{'name':'search','title':'B','inputSchema':"
                                    "{'type':'object','properties':{'q':{'type':'string'}},"
                                    "'required':['q']}}]}");
    compare_rules_init(&s->rules);
    if (!compare_rules_parse(&s->rules,
                             STR("{\"allow\":[{\"rule\":\"tool.removed\",\"until\":"
                                 "\"2027-01-31\",\"reason\":\"moved\"}]}"),
                             &e))
        fail_msg("%s", e.msg);
    contract_changes_init(&s->changes, CONTRACT_PROFILE_CONTRACT, STR("a.lock.json"));
    contract_compare(&s->changes, &s->before, &s->after);
    contract_traffic_init(&s->traffic, &s->changes, &s->before, &s->after);
    contract_traffic_add_call(&s->traffic, 7, STR("tools/call"),
                              terse_scan(&params, "{'name':'search'}"), JSON_VAL_NONE);
    terse_scanned_release(&params);
    contract_traffic_end(&s->traffic);
    contract_allow(&s->changes, &s->rules, STR("2026-11-18"));
    s->report = (struct contract_report){ .before_name = STR("a.lock.json"),
                                          .after_name = STR("node server.js"),
                                          .before = &s->before,
                                          .after = &s->after,
                                          .changes = &s->changes,
                                          .fail_on = FAIL_ON_BREAKING,
                                          .traffic = &s->traffic };
    s->report.exit_code = contract_decide(&s->changes, FAIL_ON_BREAKING);
}

static inline void contract_sample_release(struct contract_sample *s)
{
    contract_traffic_release(&s->traffic);
    contract_changes_release(&s->changes);
    compare_rules_release(&s->rules);
    surface_release(&s->before);
    surface_release(&s->after);
}

#endif
