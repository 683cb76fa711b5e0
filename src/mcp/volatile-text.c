#include "mcp/volatile-text.h"

#include "base/ascii.h"
#include "mcp/volatile-values.h"

/* UTF-8 has none of these bytes. */
#define MASK_VALUE STR("\xff")
#define MASK_TEMP_PATH STR("\xfe")
#define MASK_PORT STR("\xfd")

enum { TIME_MIN = 16, UUID = 36, PORT_DIGITS = 5 };

static char byte_at(struct str s, size_t i)
{
    return i < s.len ? s.at[i] : '\0';
}

static size_t digits_at(struct str s, size_t from)
{
    size_t n = 0;

    while (ascii_is_digit(byte_at(s, from + n)))
        n++;
    return n;
}

/* Length of "+02:00", "-0500" or "Z" at `from`; 0 if there is none. */
static size_t zone_length(struct str s, size_t from)
{
    char sign = byte_at(s, from);
    size_t colon = byte_at(s, from + 3) == ':';

    if (sign == 'Z' || sign == 'z')
        return 1;
    if ((sign != '+' && sign != '-') || digits_at(s, from + 1) < 2)
        return 0;
    return digits_at(s, from + 3 + colon) >= 2 ? 5 + colon : 3;
}

/* Length of a date with a time; 0 if the text does not begin with one. */
static size_t time_length(struct str s)
{
    size_t n = TIME_MIN;
    char point;

    if (s.len < TIME_MIN || s.at[4] != '-' || s.at[13] != ':' ||
        !mcp_is_volatile_text(str_n(s.at, TIME_MIN)))
        return 0;
    if (byte_at(s, n) == ':' && digits_at(s, n + 1) >= 2)
        n += 3;
    point = byte_at(s, n);
    if ((point == '.' || point == ',') && digits_at(s, n + 1))
        n += 1 + digits_at(s, n + 1);
    return n + zone_length(s, n);
}

/* Length of a time of day with seconds, such as "2:21:54 AM"; 0 if there is none. */
static size_t clock_length(struct str s)
{
    size_t n = digits_at(s, 0);

    if (n < 1 || n > 2 || byte_at(s, n) != ':' || digits_at(s, n + 1) != 2 ||
        byte_at(s, n + 3) != ':' || digits_at(s, n + 4) != 2)
        return 0;
    n += 6;
    if (byte_at(s, n) == '.' && digits_at(s, n + 1))
        n += 1 + digits_at(s, n + 1);
    if (byte_at(s, n) == ' ' && (byte_at(s, n + 1) == 'A' || byte_at(s, n + 1) == 'P') &&
        byte_at(s, n + 2) == 'M' && !ascii_is_alnum(byte_at(s, n + 3)))
        n += 3;
    return n;
}

static size_t uuid_length(struct str s)
{
    bool uuid = s.len >= UUID && s.at[8] == '-' && s.at[13] == '-' &&
                !ascii_is_alnum(byte_at(s, UUID)) && mcp_is_volatile_text(str_n(s.at, UUID));

    return uuid ? UUID : 0;
}

static size_t word_length(struct str s)
{
    size_t n = 0;

    while (ascii_is_alnum(byte_at(s, n)))
        n++;
    return n;
}

/* Length of a word that is volatile, with the fraction of a number of seconds. */
static size_t volatile_word_length(struct str s)
{
    size_t n = word_length(s);

    if (!mcp_is_volatile_text(str_n(s.at, n)))
        return 0;
    if (digits_at(s, 0) == n && byte_at(s, n) == '.' && digits_at(s, n + 1))
        n += 1 + digits_at(s, n + 1);
    return n;
}

/* Length of a volatile value at the start of a word; 0 if there is none. */
static size_t value_length(struct str s)
{
    size_t n = time_length(s);

    if (!n)
        n = clock_length(s);
    if (!n)
        n = uuid_length(s);
    return n ? n : volatile_word_length(s);
}

static bool is_path_byte(char c)
{
    return ascii_is_alnum(c) || (unsigned char)c >= 0x80 || (c && strchr("._-~%+@/#=", c));
}

/* Length of a name in a path. */
static size_t name_length(struct str s)
{
    size_t n = 0;

    while (n < s.len && s.at[n] != '/' && is_path_byte(s.at[n]))
        n++;
    return n;
}

/* True if an absolute path can begin here: not inside another path, but in "file:///tmp". */
static bool starts_path(struct str text, size_t at)
{
    if (text.at[at] != '/')
        return false;
    if (at >= 3 && memcmp(text.at + at - 3, "://", 3) == 0)
        return true;
    return !at || text.at[at - 1] == '=' || !is_path_byte(text.at[at - 1]);
}

/* Length of a directory for temporary files and the first name below it; 0 if the text does not
 * begin with one. */
static size_t temp_path_length(struct str s)
{
    static const struct {
        struct str root;
        size_t names; /* between the root and the temporary name */
    } dirs[] = {
        { STR_INIT("/tmp/"), 0 },
        { STR_INIT("/var/tmp/"), 0 },
        { STR_INIT("/dev/shm/"), 0 },
        { STR_INIT("/private/tmp/"), 0 },
        { STR_INIT("/var/folders/"), 3 }, /* macOS: /var/folders/xx/yyyy/T/ */
        { STR_INIT("/private/var/tmp/"), 0 },
        { STR_INIT("/private/var/folders/"), 3 },
    };

    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        size_t n = dirs[i].root.len, name = 0;

        if (!str_starts(s, dirs[i].root))
            continue;
        for (size_t left = dirs[i].names; left; left--) {
            n += name_length(str_skip(s, n));
            if (byte_at(s, n++) != '/')
                return 0;
        }
        name = name_length(str_skip(s, n));
        return name ? n + name : 0;
    }
    return 0;
}

/* Length of "://localhost:" if a port follows; 0 otherwise. */
static size_t loopback_length(struct str s)
{
    static const struct str hosts[] = { STR_INIT("://localhost:"), STR_INIT("://127.0.0.1:"),
                                        STR_INIT("://[::1]:") };

    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        size_t digits;

        if (!str_starts(s, hosts[i]))
            continue;
        digits = digits_at(s, hosts[i].len);
        return digits && digits <= PORT_DIGITS ? hosts[i].len : 0;
    }
    return 0;
}

/* Masks or copies what the text begins with; returns how many bytes that is. */
static size_t mask_next(struct str text, size_t at, struct buf *to)
{
    struct str rest = str_skip(text, at);
    size_t n;

    if (ascii_is_alnum(rest.at[0])) {
        n = value_length(rest);
        if (n) {
            buf_add(to, MASK_VALUE);
            return n;
        }
        n = word_length(rest);
    } else if (starts_path(text, at) && (n = temp_path_length(rest)) != 0) {
        buf_add(to, MASK_TEMP_PATH);
        return n;
    } else if (rest.at[0] == ':' && (n = loopback_length(rest)) != 0) {
        buf_add(to, str_n(rest.at, n));
        buf_add(to, MASK_PORT);
        return n + digits_at(rest, n);
    } else {
        n = 1;
    }
    buf_add(to, str_n(rest.at, n));
    return n;
}

void mcp_mask_volatile_text(struct str text, struct buf *to)
{
    for (size_t at = 0; at < text.len;)
        at += mask_next(text, at, to);
}
