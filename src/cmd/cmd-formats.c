/* cmd/cmd-formats.c - the formats command: lists file formats and what each of them keeps. */
#include "base/buf.h"
#include "cmd/command.h"
#include "format/format.h"
#include "json/write.h"

enum { FORMATS_MAX = 1 << 20, NAME_WIDTH = 17, ACCESS_WIDTH = 15 };

static const char *access_text(const struct format *f)
{
    if (!f->open)
        return "written";
    return f->put ? "read, written" : "read";
}

static void add_row(struct buf *to, const struct format *f)
{
    buf_printf(to, "%-*s%-*s", NAME_WIDTH, f->name, ACCESS_WIDTH, access_text(f));
    for (const char *const *ext = f->ext; *ext; ext++)
        buf_printf(to, "%s%s", ext == f->ext ? "" : " ", *ext);
    buf_printf(to, "\n%*s%s\n", NAME_WIDTH, "", f->about);
}

/* Adds the names of the columns below, each with a line down to its column. */
static void add_feature_names(struct buf *to)
{
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        buf_printf(to, "%-*s", NAME_WIDTH, i ? "" : "keeps");
        for (size_t k = 0; k < i; k++)
            buf_add(to, STR("│ "));
        buf_printf(to, "%s: %s\n", feature_name(1u << i), feature_description(1u << i));
    }
}

static void add_feature_row(struct buf *to, const struct format *f)
{
    buf_printf(to, "%-*s", NAME_WIDTH, f->name);
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        buf_printf(to, "%s%s", i ? " " : "", f->keeps & 1u << i ? "✔" : "·");
    buf_add_ch(to, '\n');
}

static void add_text(struct buf *to)
{
    for (const struct format *const *f = format_table; *f; f++)
        add_row(to, *f);
    buf_add_ch(to, '\n');
    add_feature_names(to);
    for (const struct format *const *f = format_table; *f; f++)
        add_feature_row(to, *f);
}

static void add_features_json(struct json_out *o, struct str key, unsigned parts)
{
    json_out_key(o, key);
    json_out_array(o);
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (parts & 1u << i)
            json_out_str(o, str_z(feature_name(1u << i)));
    json_out_end_array(o);
}

static void add_format_json(struct json_out *o, const struct format *f)
{
    json_out_object(o);
    json_out_key_str(o, STR("name"), str_z(f->name));
    json_out_key_str(o, STR("description"), str_z(f->about));
    json_out_key_bool(o, STR("read"), f->open != NULL);
    json_out_key_bool(o, STR("write"), f->put != NULL);
    json_out_key(o, STR("extensions"));
    json_out_array(o);
    for (const char *const *ext = f->ext; *ext; ext++)
        json_out_str(o, str_z(*ext));
    json_out_end_array(o);
    add_features_json(o, STR("keeps"), f->keeps);
    add_features_json(o, STR("loses"), ~f->keeps);
    json_out_end_object(o);
}

static void add_json(struct buf *to)
{
    struct json_out o = json_out_to(to);

    json_out_object(&o);
    json_out_key_int(&o, STR("v"), JSON_OUTPUT_VERSION);
    json_out_key_str(&o, STR("command"), STR("formats"));
    json_out_key(&o, STR("formats"));
    json_out_array(&o);
    for (const struct format *const *f = format_table; *f; f++)
        add_format_json(&o, *f);
    json_out_end_array(&o);
    json_out_end_object(&o);
    buf_add_ch(to, '\n');
}

static int formats_run(const struct app *app, const void *args, const struct operands *in,
                       struct err *e)
{
    struct buf out;
    bool ok;

    (void)args;
    (void)in;
    buf_init(&out, FORMATS_MAX);
    if (app->json)
        add_json(&out);
    else
        add_text(&out);
    ok = buf_ok(&out, e) && app_write(app, buf_str(&out), e);
    buf_release(&out);
    return ok ? EXIT_OK : app_exit_code(e);
}

static const struct command_example formats_examples[] = {
    { "mcpreel formats", "list formats, and the features that each one keeps" },
    { "mcpreel formats --json | jq -r '.formats[].name'", "as JSON" },
    { 0 },
};

const struct command cmd_formats = {
    .name = "formats",
    .summary = "list file formats and the features that they keep",
    .usage = (const char *const[]){ "[--json]", NULL },
    .about =
        "Lists the formats that 'mcpreel convert' and the other commands know: whether they "
        "can be read or written, their file names, and the features of a recording that they "
        "keep. The content of a file tells the format to read; the name selects the format to "
        "write. '.gz' and '.zst' may follow any name.",
    .examples = formats_examples,
    .run = formats_run,
};
