#include "mcphttp/header-policy.h"

#include "json/write.h"

bool header_policy_keeps_value(struct str name)
{
    static const struct str kept[] = {
        STR_INIT("accept"),     STR_INIT("content-type"),     STR_INIT("mcp-protocol-version"),
        STR_INIT("mcp-method"), STR_INIT("mcp-name"),         STR_INIT("last-event-id"),
        STR_INIT("allow"),      STR_INIT("www-authenticate"), STR_INIT("retry-after"),
    };
    static const struct str param = STR_INIT("mcp-param-");

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (headers_equal_nocase(name, kept[i]))
            return true;
    return name.len > param.len && headers_equal_nocase(str_n(name.at, param.len), param);
}

void header_policy_write(struct buf *to, const struct headers *f)
{
    struct json_out o = json_out_to(to);

    json_out_array(&o);
    for (size_t i = 0; i < f->count; i++) {
        json_out_array(&o);
        json_out_str(&o, f->at[i].name);
        if (header_policy_keeps_value(f->at[i].name))
            json_out_str(&o, f->at[i].value);
        else
            json_out_int(&o, (int64_t)f->at[i].value.len);
        json_out_end_array(&o);
    }
    json_out_end_array(&o);
}
