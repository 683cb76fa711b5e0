#include "runtime/record-report.h"

#include "json/write.h"

void record_report_write(const struct record_report *report, struct buf *to)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("record"));
    json_out_key_int(&o, STR("exit_code"), report->exit_code);
    json_out_key_str_or_null(&o, STR("file"), str_z(report->file));
    json_out_key_str(&o, STR("format"), str_z(report->format));
    json_out_key_int(&o, STR("parts"), report->parts);
    json_out_key_int(&o, STR("messages"), (int64_t)report->messages);
    json_out_key_int(&o, STR("messages_lost"), (int64_t)report->lost);
    json_out_key_int(&o, STR("messages_too_long"), (int64_t)report->too_long);
    json_out_key_bool(&o, STR("complete"), report->complete);
    json_out_key_str_or_null(&o, STR("rest"), str_z(report->rest));
    json_out_key_str_or_null(&o, STR("note"), str_z(report->note));
    json_out_key(&o, STR("lost"));
    loss_write_json(&o, report->loss);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}
