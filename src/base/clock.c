#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"

enum { US_PER_MS = 1000, US_PER_S = 1000000, S_PER_DAY = 86400 };

/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z. */
#define WALL_FIRST (INT64_C(-62167219200) * US_PER_S)
#define WALL_LAST (INT64_C(253402300800) * US_PER_S - 1)

static int64_t read_clock(clockid_t id)
{
    struct timespec now;

    BUG_IF(clock_gettime(id, &now) != 0);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

int64_t clock_mono_us(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_us(void)
{
    return read_clock(CLOCK_REALTIME);
}

static struct str printed_str(const char *out, int n)
{
    BUG_IF(n < 0 || n >= CLOCK_TEXT_SIZE);
    return str_n(out, (size_t)n);
}

static char *put_date(char *to, unsigned year, unsigned month, unsigned day)
{
    to = buf_put_two_digits(to, year / 100);
    to = buf_put_two_digits(to, year % 100);
    *to++ = '-';
    to = buf_put_two_digits(to, month);
    *to++ = '-';
    return buf_put_two_digits(to, day);
}

static char *put_time(char *to, unsigned in_day)
{
    to = buf_put_two_digits(to, in_day / 3600);
    *to++ = ':';
    to = buf_put_two_digits(to, in_day / 60 % 60);
    *to++ = ':';
    return buf_put_two_digits(to, in_day % 60);
}

/* Milliseconds, and what is below them if there is anything. */
static char *put_fraction(char *to, unsigned us)
{
    unsigned below_ms = us % US_PER_MS;

    *to++ = (char)('0' + us / 100000);
    to = buf_put_two_digits(to, us / US_PER_MS % 100);
    if (!below_ms)
        return to;
    *to++ = (char)('0' + below_ms / 100);
    return buf_put_two_digits(to, below_ms % 100);
}

/* The calendar date of a day, counted from 0000-01-01. gmtime_r() asks the time zone data
 * first, and takes a lock for it. Counted from March, so that the leap day is the last of its
 * year, and in eras of 400 years, which all have the same number of days; from an era before
 * the first, which needs no sign. */
static void date_of_day(unsigned days, unsigned *year, unsigned *month, unsigned *day)
{
    enum { ERA = 146097, TO_MARCH = 60 };
    unsigned since = days + ERA - TO_MARCH, era = since / ERA, in_era = since % ERA;
    unsigned years = (in_era - in_era / 1460 + in_era / 36524 - in_era / (ERA - 1)) / 365;
    unsigned in_year = in_era - (365 * years + years / 4 - years / 100);
    unsigned months = (5 * in_year + 2) / 153;

    *day = in_year - (153 * months + 2) / 5 + 1;
    *month = months < 10 ? months + 3 : months - 9;
    *year = years + era * 400 + (*month <= 2) - 400;
}

struct str clock_format(char out[CLOCK_TEXT_SIZE], int64_t wall_us)
{
    int64_t us = wall_us < WALL_FIRST ? WALL_FIRST : wall_us > WALL_LAST ? WALL_LAST : wall_us;
    uint64_t since = (uint64_t)(us - WALL_FIRST), seconds = since / US_PER_S;
    unsigned year, month, day;
    char *to;

    date_of_day((unsigned)(seconds / S_PER_DAY), &year, &month, &day);
    to = put_date(out, year, month, day);
    *to++ = 'T';
    to = put_time(to, (unsigned)(seconds % S_PER_DAY));
    *to++ = '.';
    to = put_fraction(to, (unsigned)(since % US_PER_S));
    *to++ = 'Z';
    return str_n(out, (size_t)(to - out));
}

static bool parse_char(struct str *s, const char *any)
{
    for (; s->len && *any; any++)
        if (s->at[0] == *any) {
            *s = str_skip(*s, 1);
            return true;
        }
    return false;
}

/* Exactly `digits` digits that make a number from `least` to `most`. */
static bool parse_number(struct str *s, size_t digits, int least, int most, int *out)
{
    uint64_t n;

    if (s->len < digits || !str_parse_u64(str_n(s->at, digits), &n))
        return false;
    *s = str_skip(*s, digits);
    *out = (int)n;
    return *out >= least && *out <= most;
}

static int days_in_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static bool parse_date(struct str *s, struct tm *tm)
{
    int year, month;

    if (!parse_number(s, 4, 0, 9999, &year) || !parse_char(s, "-") ||
        !parse_number(s, 2, 1, 12, &month) || !parse_char(s, "-") ||
        !parse_number(s, 2, 1, days_in_month(year, month), &tm->tm_mday))
        return false;
    tm->tm_year = year - 1900;
    tm->tm_mon = month - 1;
    return true;
}

static bool parse_time(struct str *s, struct tm *tm)
{
    return parse_number(s, 2, 0, 23, &tm->tm_hour) && parse_char(s, ":") &&
           parse_number(s, 2, 0, 59, &tm->tm_min) && parse_char(s, ":") &&
           parse_number(s, 2, 0, 60, &tm->tm_sec);
}

static bool parse_fraction(struct str *s, int64_t *us)
{
    int64_t worth = US_PER_S / 10;
    int digit;

    *us = 0;
    if (!parse_char(s, "."))
        return true;
    if (!parse_number(s, 1, 0, 9, &digit))
        return false;
    do {
        *us += digit * worth;
        worth /= 10;
    } while (parse_number(s, 1, 0, 9, &digit));
    return true;
}

static bool parse_offset(struct str *s, int *seconds)
{
    bool west = s->len && s->at[0] == '-';
    int hours, minutes;

    *seconds = 0;
    if (parse_char(s, "Zz"))
        return true;
    if (!parse_char(s, "+-") || !parse_number(s, 2, 0, 23, &hours) || !parse_char(s, ":") ||
        !parse_number(s, 2, 0, 59, &minutes))
        return false;
    *seconds = (hours * 60 + minutes) * 60 * (west ? -1 : 1);
    return true;
}

/* timegm() asks the time zone data first, for each of a million lines. */
static int64_t seconds_since_1970(const struct tm *tm)
{
    /* Counted from March, so that the leap day is the last of its year. */
    int64_t year = tm->tm_year + 1900 - (tm->tm_mon < 2);
    int64_t month = tm->tm_mon < 2 ? tm->tm_mon + 10 : tm->tm_mon - 2;
    int64_t leap_days = (year >= 0 ? year : year - 399) / 400 +
                        (year >= 0 ? year : year - 3) / 4 -
                        (year >= 0 ? year : year - 99) / 100;
    int64_t days = year * 365 + leap_days + (month * 153 + 2) / 5 + tm->tm_mday - 1 - 719468;

    return ((days * 24 + tm->tm_hour) * 60 + tm->tm_min) * 60 + tm->tm_sec;
}

bool clock_parse(struct str text, int64_t *wall_us)
{
    struct tm tm = { .tm_mon = 0 };
    int64_t seconds, fraction;
    int offset;
    bool leap;

    if (!parse_date(&text, &tm) || !parse_char(&text, "Tt ") || !parse_time(&text, &tm) ||
        !parse_fraction(&text, &fraction) || !parse_offset(&text, &offset) || text.len)
        return false;
    leap = tm.tm_sec == 60; /* counts as the second after */
    seconds = seconds_since_1970(&tm) - offset;
    if (leap && seconds % S_PER_DAY != 0) /* there are none but before midnight UTC */
        return false;
    *wall_us = seconds * US_PER_S + fraction;
    return true;
}

bool clock_parse_http(struct str text, int64_t *wall_us)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    static const struct str shape = STR_INIT("Sun, 15 Nov 2026 21:00:00 GMT");
    char date[CLOCK_TEXT_SIZE];
    const char *month;
    int n;

    if (text.len != shape.len || !str_ends(text, STR(" GMT")) || text.at[3] != ',')
        return false;
    month = memmem(months, sizeof months - 1, text.at + 8, 3);
    if (!month || (month - months) % 3)
        return false;
    n = snprintf(date, sizeof date, "%.4s-%02d-%.2sT%.8sZ", text.at + 12,
                 (int)(month - months) / 3 + 1, text.at + 5, text.at + 17);
    return clock_parse(printed_str(date, n), wall_us);
}

int64_t clock_add(int64_t us, int64_t more)
{
    int64_t sum;

    if (__builtin_add_overflow(us, more, &sum))
        return more < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

int64_t clock_since(int64_t us, int64_t start)
{
    int64_t passed;

    if (__builtin_sub_overflow(us, start, &passed))
        return start < 0 ? INT64_MAX : INT64_MIN;
    return passed;
}

int64_t clock_ms_to_us(uint64_t ms)
{
    return ms > INT64_MAX / US_PER_MS ? INT64_MAX : (int64_t)ms * US_PER_MS;
}

static uint64_t rounded(uint64_t n, uint64_t unit)
{
    return n / unit + (n % unit >= (unit + 1) / 2);
}

struct str clock_format_duration(char out[CLOCK_TEXT_SIZE], int64_t us)
{
    const char *sign = us < 0 ? "-" : "";
    uint64_t n = us < 0 ? -(uint64_t)us : (uint64_t)us;
    uint64_t tenth_ms = rounded(n, 100), ms = rounded(n, US_PER_MS);
    uint64_t tenths = rounded(n, US_PER_S / 10), s = rounded(n, US_PER_S), min = rounded(s, 60);

    if (n < US_PER_MS)
        return printed_str(out, snprintf(out, CLOCK_TEXT_SIZE, "%s%" PRIu64 " us", sign, n));
    if (tenth_ms < 100)
        return printed_str(out, snprintf(out, CLOCK_TEXT_SIZE, "%s%" PRIu64 ".%" PRIu64 " ms",
                                         sign, tenth_ms / 10, tenth_ms % 10));
    if (ms < 1000)
        return printed_str(out, snprintf(out, CLOCK_TEXT_SIZE, "%s%" PRIu64 " ms", sign, ms));
    if (tenths < 600)
        return printed_str(out, snprintf(out, CLOCK_TEXT_SIZE, "%s%" PRIu64 ".%" PRIu64 " s",
                                         sign, tenths / 10, tenths % 10));
    if (s < 3600)
        return printed_str(out,
                           snprintf(out, CLOCK_TEXT_SIZE, "%s%" PRIu64 " min %" PRIu64 " s",
                                    sign, s / 60, s % 60));
    return printed_str(out, snprintf(out, CLOCK_TEXT_SIZE, "%s%" PRIu64 " h %" PRIu64 " min",
                                     sign, min / 60, min % 60));
}
