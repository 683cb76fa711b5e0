#include "base/recent.h"

void recent_init(struct recent *r)
{
    for (size_t i = 0; i < RECENT_SLOTS; i++) {
        r->slots[i].at = 0;
        buf_init(&r->slots[i].text, RECENT_TEXT_MAX);
    }
}

void recent_release(struct recent *r)
{
    for (size_t i = 0; i < RECENT_SLOTS; i++)
        buf_release(&r->slots[i].text);
}

/* Neighbours are asked for together, and so must not meet: the upper bits of a product with
 * an odd number that is like no pattern. */
static size_t slot_of(uint64_t at)
{
    return (size_t)(at * UINT64_C(0x9e3779b97f4a7c15) >> 32) % RECENT_SLOTS;
}

void recent_keep(struct recent *r, uint64_t at, struct str text)
{
    struct recent_slot *s = &r->slots[slot_of(at)];

    if (text.len > RECENT_TEXT_MAX)
        return;
    buf_clear(&s->text);
    buf_add(&s->text, text);
    s->at = at;
}

bool recent_find(const struct recent *r, uint64_t at, size_t len, struct str *text)
{
    const struct recent_slot *s = &r->slots[slot_of(at)];

    if (s->at != at || s->text.len != len || !len)
        return false;
    *text = buf_str(&s->text);
    return true;
}
