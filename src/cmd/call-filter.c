#include "cmd/call-filter.h"

static bool read_filter(struct filter **out, const char *text, const char *option,
                        struct err *e)
{
    struct filter_fault fault;

    return !text || filter_new(out, str_z(text), &fault, e) ||
           err_wrap(e, "option '%s'", option);
}

bool call_filter_read(struct call_filter *f, const char *only, const char *skip, struct err *e)
{
    *f = (struct call_filter){ .only = NULL };
    return read_filter(&f->only, only, "--only", e) && read_filter(&f->skip, skip, "--skip", e);
}

void call_filter_release(struct call_filter *f)
{
    filter_free(f->only);
    filter_free(f->skip);
}

/* The view of a recorded request. */
static void view_request(struct filter_view *v, const struct index *index, uint32_t call,
                         struct json_val request, struct arena *a)
{
    const struct index_method *method = index_method(index, call);
    struct json_val params = json_get(request, STR("params"));
    struct str subject = json_text(mcp_method_subject(method->known, params), a);
    bool ok = index->calls[call].flags & CALL_SUCCEEDED;

    *v = (struct filter_view){ .kind = FILTER_KIND_REQ | FILTER_KIND_OP,
                               .dir = FILTER_DIR_C2S,
                               .is = ok ? FILTER_IS_OK : FILTER_IS_RPC_ERROR,
                               .method = method->name,
                               .message = request };
    if (str_eq(method->name, STR("tools/call")))
        v->tool = subject;
    else if (str_eq(method->name, STR("prompts/get")))
        v->prompt = subject;
    else if (str_eq(method->name, STR("resources/read")))
        v->uri = subject;
}

bool call_filter_selects(const struct call_filter *f, const struct index *index, uint32_t call,
                         struct json_val request, struct str *why)
{
    struct arena a = { 0 };
    struct filter_view view;
    bool selected = true;

    view_request(&view, index, call, request, &a);
    if (f->only && !filter_matches(f->only, &view)) {
        *why = STR("--only does not select it");
        selected = false;
    } else if (f->skip && filter_matches(f->skip, &view)) {
        *why = STR("--skip selects it");
        selected = false;
    }
    arena_release(&a);
    return selected;
}
