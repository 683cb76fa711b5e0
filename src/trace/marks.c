#include "trace/marks.h"

#include <stdlib.h>

#include "base/mem.h"

void marks_init(struct marks *m, const struct secrets *s)
{
    *m = (struct marks){ .secrets = s };
    m->numbers = mem_alloc((s->count + 1) * sizeof *m->numbers);
}

void marks_release(struct marks *m)
{
    free(m->numbers);
}

void marks_skip(struct marks *m, uint32_t number)
{
    if (number > m->last && !m->frozen)
        m->last = number;
}

void marks_add(struct marks *m, struct buf *to, int64_t rule)
{
    const struct secrets_rule *r;

    r = rule == MARKS_ANY ? NULL : &m->secrets->rules[rule];
    if (m->plain || !r || r->kind == SECRETS_DEPTH ||
        (m->frozen && r->kind != SECRETS_VALUE && !m->numbers[rule])) {
        buf_add(to, STR("[REDACTED]"));
        return;
    }
    if (r->kind == SECRETS_VALUE) {
        buf_add(to, STR("[REDACTED:"));
        buf_add(to, r->name);
        buf_add_ch(to, ']');
        return;
    }
    if (!m->numbers[rule])
        m->numbers[rule] = ++m->last;
    buf_add(to, STR(SECRETS_MARK));
    buf_add_int(to, m->numbers[rule]);
    buf_add_ch(to, ']');
}
