#include "redact/placeholder.h"

#include <stdlib.h>

#include "base/ascii.h"
#include "base/mem.h"

void placeholder_init(struct placeholders *m, const struct secret_rules *s)
{
    *m = (struct placeholders){ .secrets = s };
    m->numbers = mem_alloc((s->count + 1) * sizeof *m->numbers);
}

void placeholder_release(struct placeholders *m)
{
    free(m->numbers);
}

void placeholder_reserve(struct placeholders *m, uint32_t number)
{
    if (number > m->last_number && !m->frozen)
        m->last_number = number;
}

bool placeholder_is_variable(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!ascii_is_letter(name.at[i]) && name.at[i] != '_' &&
            (i == 0 || !ascii_is_digit(name.at[i])))
            return false;
    return name.len > 0;
}

static void write_seen(const struct placeholders *m, struct buf *to, uint32_t value)
{
    buf_add(to, STR("[REDACTED:"));
    seen_secrets_write_name(m->seen, value, to);
    buf_add_ch(to, ']');
}

bool placeholder_matches(struct str text)
{
    return str_starts(text, STR("[REDACTED")) && str_find(text, ']') + 1 == text.len;
}

void placeholder_write(struct placeholders *m, struct buf *to, int64_t rule)
{
    const struct secret_rule *r;

    if (rule >= (int64_t)m->secrets->count && !m->no_names) {
        write_seen(m, to, (uint32_t)(rule - (int64_t)m->secrets->count));
        return;
    }
    r = rule == PLACEHOLDER_NO_RULE || m->no_names ? NULL : &m->secrets->rules[rule];
    if (!r || r->kind == SECRET_RULE_DEPTH ||
        (m->frozen && r->kind != SECRET_RULE_VALUE && !m->numbers[rule])) {
        buf_add(to, STR("[REDACTED]"));
        return;
    }
    if (r->kind == SECRET_RULE_VALUE) {
        buf_add(to, STR("[REDACTED:"));
        buf_add(to, r->name);
        buf_add_ch(to, ']');
        return;
    }
    if (!m->numbers[rule])
        m->numbers[rule] = ++m->last_number;
    buf_add(to, STR(SECRET_RULES_PLACEHOLDER));
    buf_add_int(to, m->numbers[rule]);
    buf_add_ch(to, ']');
}
