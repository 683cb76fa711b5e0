/* tests/fuzz/fuzz-op-builder.c - any lines of a recording, made into operations.
 *
 * Must hold: every message joins an operation, every operation ends once and in the end
 * all have; parents come before their children. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "format/recording-line.h"
#include "ops/op-builder.h"

struct watcher {
    struct operation_sink sink;
    uint64_t joined, ended;
};

static bool watch(struct operation_sink *self, const struct operation_event *ev, struct err *e)
{
    struct watcher *w = (struct watcher *)self;
    const struct operation *op = ev->op;

    (void)e;
    BUG_IF(op->parent >= op->number || op->root > op->number);
    BUG_IF((op->parent == 0) != (op->root == op->number));
    w->joined += ev->message != NULL;
    w->ended += ev->message == NULL;
    BUG_IF(op->total_us >= 0 && op->server_us + op->wait_us != op->total_us);
    for (size_t i = 0; i < op->messages.kept; i++)
        BUG_IF(operation_message_at(op, i)->role >= ROLE_COUNT);
    return true;
}

static void put_line(struct op_builder *g, const struct watcher *w, struct str line)
{
    struct arena a = { 0 };
    struct err e = ERR_NONE;
    struct json_fault fault;
    struct record r;
    struct json j;
    size_t at;

    json_init(&j);
    if (json_scan(&j, line, &fault) && recording_line_read(json_root(&j), &r, &a, &at, &e)) {
        uint64_t joined = w->joined;

        BUG_IF(!g->sink.put(&g->sink, &r, &e));
        BUG_IF(r.kind == RECORD_MESSAGE && w->joined == joined);
    }
    json_release(&j);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str rest = str_n((const char *)data, size);
    struct watcher w = { .sink = { watch } };
    struct err e = ERR_NONE;
    struct op_builder g;

    op_builder_init(&g, &w.sink);
    while (rest.len)
        put_line(&g, &w, str_cut(&rest, '\n'));
    BUG_IF(!op_builder_finish(&g, &e));
    BUG_IF(w.ended != op_builder_count(&g) || g.open_ops.bytes || g.pairs.count);
    op_builder_release(&g);
    return 0;
}
