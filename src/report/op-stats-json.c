#include "report/op-stats-json.h"

#include "mcp/context-cost.h"

static void key_count(struct json_out *o, struct str key, uint64_t n)
{
    json_out_key_int(o, key, (int64_t)n);
}

void op_stats_json_name(struct json_out *o, const struct op_stats_row *row)
{
    json_out_key_str(o, STR("from"), row->dir == TO_SERVER ? STR("client") : STR("server"));
    json_out_key_str(o, STR("method"), row->method);
    json_out_key_str_or_null(o, STR("subject"), row->subject);
}

void op_stats_json_counts(struct json_out *o, const struct op_stats_row *row)
{
    key_count(o, STR("calls"), row->calls);
    key_count(o, STR("retries"), row->retries);
    key_count(o, STR("polls"), row->polls);
    key_count(o, STR("pages"), row->pages);
    key_count(o, STR("tasks"), row->tasks);
    key_count(o, STR("answered"), op_stats_answered(row));
    key_count(o, STR("input_required"), row->input_required);
    key_count(o, STR("rpc_errors"), row->outcomes[OUTCOME_RPC_ERROR]);
    key_count(o, STR("tool_errors"), row->outcomes[OUTCOME_TOOL_ERROR]);
    key_count(o, STR("http_errors"), row->outcomes[OUTCOME_HTTP_ERROR]);
    key_count(o, STR("malformed"), row->outcomes[OUTCOME_MALFORMED]);
    key_count(o, STR("cancelled"), row->cancelled);
    key_count(o, STR("late"), row->outcomes[OUTCOME_LATE]);
    key_count(o, STR("pending"), row->outcomes[OUTCOME_PENDING]);
    key_count(o, STR("server_exited"), row->outcomes[OUTCOME_SERVER_EXITED]);
    key_count(o, STR("unanswered"), row->unanswered);
}

void op_stats_json_times(struct json_out *o, enum op_stats_json_time which,
                         const struct histogram *h)
{
    static const struct {
        struct str p50, p95, max;
    } keys[] = {
        [OP_STATS_JSON_TOTAL] = { STR("p50_us"), STR("p95_us"), STR("max_us") },
        [OP_STATS_JSON_SERVER] = { STR("server_p50_us"), STR("server_p95_us"),
                                   STR("server_max_us") },
        [OP_STATS_JSON_WAIT] = { STR("wait_p50_us"), STR("wait_p95_us"), STR("wait_max_us") },
    };

    if (!h)
        return;
    key_count(o, keys[which].p50, histogram_quantile(h, 50));
    key_count(o, keys[which].p95, histogram_quantile(h, 95));
    key_count(o, keys[which].max, h->max);
}

void op_stats_json_context(struct json_out *o, const struct op_stats_row *row)
{
    key_count(o, STR("bytes"), row->bytes);
    key_count(o, STR("results"), row->results);
    key_count(o, STR("result_bytes"), row->result_bytes);
    key_count(o, STR("result_max_bytes"), row->result_max);
    key_count(o, STR("result_estimated_tokens"), mcp_context_tokens(row->result_bytes));
    if (!row->listings)
        return;
    key_count(o, STR("listings"), row->listings);
    key_count(o, STR("definition_bytes"), row->definition_max);
    key_count(o, STR("definition_estimated_tokens"), mcp_context_tokens(row->definition_max));
}
