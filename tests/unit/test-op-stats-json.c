#include "report/op-stats-json.h"

#include "test.h"

static void a_row_has_a_name_counts_and_times(void **state)
{
    struct histogram h = { 0 };
    struct op_stats_row row = { .dir = TO_SERVER,
                                .method = STR("tools/call"),
                                .subject = STR("add"),
                                .calls = 4,
                                .outcomes = { [OUTCOME_OK] = 3, [OUTCOME_TOOL_ERROR] = 1 } };
    struct json_out o;
    struct buf to;

    (void)state;
    histogram_add(&h, 7);
    histogram_add(&h, 9);
    buf_init(&to, 4096);
    o = json_out_to(&to);
    json_out_object(&o);
    op_stats_json_name(&o, &row);
    op_stats_json_counts(&o, &row);
    op_stats_json_times(&o, OP_STATS_JSON_TOTAL, &h);
    op_stats_json_times(&o, OP_STATS_JSON_SERVER, NULL);
    op_stats_json_times(&o, OP_STATS_JSON_WAIT, &h);
    json_out_end_object(&o);
    assert_string_equal(
        buf_z(&to),
        "{\"from\":\"client\",\"method\":\"tools/call\",\"subject\":\"add\",\"calls\":4,"
        "\"retries\":0,\"polls\":0,\"pages\":0,\"tasks\":0,\"answered\":4,\"input_required\":0,"
        "\"rpc_errors\":0,\"tool_errors\":1,\"http_errors\":0,\"malformed\":0,\"cancelled\":0,"
        "\"late\":0,\"pending\":0,\"server_exited\":0,\"unanswered\":0,\"p50_us\":7,\"p95_us\":"
        "9,"
        "\"max_us\":9,\"wait_p50_us\":7,\"wait_p95_us\":9,\"wait_max_us\":9}");
    buf_release(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_a_name_counts_and_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
