#include "json/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    const struct json_path *path;
    struct json_val root;
    struct arena arena;
    size_t count;
};

static bool same_place(void *arg, struct json_location place, struct json_val value)
{
    const struct json_location *want = arg;

    (void)value;
    BUG_IF(place.count != want->count);
    return true;
}

/* The pattern matches every result of a search, and the path of the result as text does so,
 * too. */
static bool check(void *arg, struct json_location place, struct json_val value)
{
    struct seen *s = arg;
    struct err e = ERR_NONE;
    struct json_path again;
    struct buf b;

    BUG_IF(!json_exists(value));
    BUG_IF(!json_path_matches(s->path, place) || !json_path_covers(s->path, place));
    buf_init(&b, 1 << 20);
    json_location_write(place, &b);
    if (place.count <= JSON_PATH_MAX && !b.full) {
        BUG_IF(!json_path_compile(&again, buf_str(&b), &s->arena, &e));
        BUG_IF(!json_path_matches(&again, place));
        json_path_select(&again, s->root, same_place, &place);
    }
    buf_release(&b);
    return ++s->count < 50;
}

/* A pattern, a newline, a JSON text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size), pattern = str_cut(&text, '\n');
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct json_path p;
    struct json j;
    struct seen s = { .path = &p };

    json_init(&j);
    if (json_path_compile(&p, pattern, &s.arena, &e)) {
        BUG_IF(e.kind != ERR_OK || p.count > JSON_PATH_MAX);
        if (json_scan(&j, text, &fault)) {
            s.root = json_root(&j);
            BUG_IF(!json_path_select(&p, json_root(&j), check, &s) && s.count != 50);
        }
    } else {
        BUG_IF(e.kind != ERR_USAGE || !e.msg[0]);
    }
    json_release(&j);
    arena_release(&s.arena);
    return 0;
}
