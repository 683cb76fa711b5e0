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

static void add_learnt(const struct marks *m, struct buf *to, uint32_t value)
{
    buf_add(to, STR("[REDACTED:"));
    learnt_name(m->learnt, value, to);
    buf_add_ch(to, ']');
}

bool marks_is(struct str text)
{
    return str_starts(text, STR("[REDACTED")) && str_find(text, ']') + 1 == text.len;
}

void marks_add(struct marks *m, struct buf *to, int64_t rule)
{
    const struct secrets_rule *r;

    if (rule >= (int64_t)m->secrets->count && !m->plain) {
        add_learnt(m, to, (uint32_t)(rule - (int64_t)m->secrets->count));
        return;
    }
    r = rule == MARKS_ANY || m->plain ? NULL : &m->secrets->rules[rule];
    if (!r || r->kind == SECRETS_DEPTH ||
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
