#include "report/contract-json.h"

#include "report/verdict-json.h"

static void write_usage(struct json_out *o, const struct contract_usage *u)
{
    json_out_key(o, STR("usage"));
    if (!u->judged) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_str(o, STR("of"), u->results ? STR("results") : STR("calls"));
    json_out_key_int(o, STR("recorded"), (int64_t)u->calls);
    json_out_key_int(o, STR("affected"), (int64_t)u->affected);
    json_out_key_int(o, STR("not_judged"), (int64_t)u->undecided);
    json_out_key(o, STR("seqs"));
    json_out_array(o);
    for (size_t i = 0; i < u->affected && i < CONTRACT_USAGE_SEQS; i++)
        json_out_int(o, u->seqs[i]);
    json_out_end_array(o);
    json_out_end_object(o);
}

static void write_allowed(struct json_out *o, const struct compare_allow *allow)
{
    json_out_key(o, STR("allowed"));
    if (!allow) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_str(o, STR("until"), allow->until);
    json_out_key_str(o, STR("reason"), allow->reason);
    json_out_end_object(o);
}

static void write_change(struct json_out *o, const struct contract_change *c)
{
    const struct finding *f = &c->finding;

    json_out_object(o);
    json_out_key_str(o, STR("rule"), c->rule->id);
    json_out_key_str(o, STR("severity"), contract_rules_severity(c->severity));
    json_out_key_bool(o, STR("fails"), f->severity == FINDING_ERROR);
    json_out_key_str(o, STR("kind"), surface_kind_name(c->kind));
    json_out_key_str_or_null(o, STR("name"), c->name);
    json_out_key_str(o, STR("message"), f->message);
    json_out_key_str(o, STR("path"), f->path);
    verdict_json_write_value(o, STR("before"), STR("before_bytes"), f->recorded);
    verdict_json_write_value(o, STR("after"), STR("after_bytes"), f->live);
    json_out_key_str_or_null(o, STR("file"), f->file);
    json_out_key(o, STR("line"));
    if (f->line)
        json_out_int(o, (int64_t)f->line);
    else
        json_out_null(o);
    write_allowed(o, c->allowed);
    write_usage(o, &c->usage);
    json_out_end_object(o);
}

static void write_findings(struct json_out *o, const struct contract_changes *c)
{
    json_out_array(o);
    for (size_t i = 0; i < c->count; i++)
        write_change(o, &c->at[i]);
    json_out_end_array(o);
}

static void write_gaps(struct json_out *o, const struct contract_report *r)
{
    static const struct str words[] = { [CONTRACT_GAP_BEFORE] = STR_INIT("before"),
                                        [CONTRACT_GAP_AFTER] = STR_INIT("after"),
                                        [CONTRACT_GAP_PAGES] = STR_INIT("pages") };

    json_out_key(o, STR("not_compared"));
    json_out_array(o);
    for (enum surface_kind k = 0; k <= SURFACE_SERVER; k++) {
        enum contract_gap gap = contract_gap(r->before, r->after, k);

        if (gap == CONTRACT_GAP_NONE)
            continue;
        json_out_object(o);
        json_out_key_str(o, STR("list"), contract_report_list(k));
        json_out_key_str(o, STR("lacks"), words[gap]);
        json_out_end_object(o);
    }
    json_out_end_array(o);
}

static void write_traffic(struct json_out *o, const struct contract_traffic *t)
{
    json_out_key(o, STR("traffic"));
    if (!t) {
        json_out_null(o);
        return;
    }
    json_out_object(o);
    json_out_key_int(o, STR("calls"), (int64_t)t->calls);
    json_out_key_int(o, STR("affected"), (int64_t)t->affected);
    json_out_key_int(o, STR("unattributed"), (int64_t)t->unattributed);
    json_out_key_int(o, STR("unattributed_results"), (int64_t)t->unattributed_results);
    json_out_end_object(o);
}

static void write_summary(struct json_out *o, const struct contract_report *r)
{
    uint64_t counts[CONTRACT_SEVERITIES];
    size_t allowed = contract_report_count(r, counts);

    json_out_key(o, STR("summary"));
    json_out_object(o);
    for (enum contract_severity s = 0; s <= CONTRACT_COSMETIC; s++)
        json_out_key_int(o, contract_rules_severity(s), (int64_t)counts[s]);
    json_out_key_int(o, STR("allowed"), (int64_t)allowed);
    json_out_end_object(o);
}

void contract_json_write_members(struct json_out *o, const struct contract_report *r)
{
    json_out_key_str(o, STR("profile"), contract_report_profile(r->changes->profile));
    json_out_key_str(o, STR("fail_on"), contract_report_fail_on(r->fail_on));
    json_out_key(o, STR("findings"));
    write_findings(o, r->changes);
    write_gaps(o, r);
    write_traffic(o, r->traffic);
    write_summary(o, r);
}

void contract_json_write(struct buf *to, struct str command, const struct contract_report *r)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), command);
    json_out_key_str(&o, STR("before"), r->before_name);
    json_out_key_str(&o, STR("after"), r->after_name);
    contract_json_write_members(&o, r);
    json_out_key_int(&o, STR("exit_code"), r->exit_code);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}
