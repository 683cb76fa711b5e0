#include "json/number.h"

#include "base/ascii.h"

/* Exponents of so few digits fit an int64_t with room to spare for the length of
 * the longest text. */
enum { EXPONENT_DIGITS = 18 };

/* value = (-1)^negative * WHOLE FRACTION * 10^(EXPONENT + shift) */
struct decimal {
    bool negative;
    struct str whole, fraction; /* together: no zero at either end; empty for zero */
    bool exponent_negative;
    struct str exponent; /* digits, no zero in front */
    int64_t shift;
};

static struct str read_digits(struct str *rest)
{
    size_t n = 0;

    while (n < rest->len && ascii_is_digit(rest->at[n]))
        n++;
    struct str found = str_n(rest->at, n);
    *rest = str_skip(*rest, n);
    return found;
}

static bool skip_char(struct str *rest, char c)
{
    if (!rest->len || rest->at[0] != c)
        return false;
    *rest = str_skip(*rest, 1);
    return true;
}

static struct str without_front_zeros(struct str s)
{
    while (s.len && s.at[0] == '0')
        s = str_skip(s, 1);
    return s;
}

static struct str without_end_zeros(struct str s)
{
    while (s.len && s.at[s.len - 1] == '0')
        s.len--;
    return s;
}

static struct decimal parse_decimal(struct str text)
{
    struct decimal n = { .negative = skip_char(&text, '-') };
    size_t written;

    n.whole = without_front_zeros(read_digits(&text));
    if (skip_char(&text, '.'))
        n.fraction = read_digits(&text);
    if (skip_char(&text, 'e') || skip_char(&text, 'E')) {
        n.exponent_negative = skip_char(&text, '-');
        skip_char(&text, '+');
        n.exponent = without_front_zeros(read_digits(&text));
    }
    n.shift = -(int64_t)n.fraction.len;
    written = n.whole.len + n.fraction.len;
    n.fraction = without_end_zeros(n.fraction);
    if (!n.fraction.len)
        n.whole = without_end_zeros(n.whole);
    n.shift += (int64_t)(written - n.whole.len - n.fraction.len);
    if (!n.whole.len)
        n.fraction = without_front_zeros(n.fraction);
    return n;
}

static bool is_zero(const struct decimal *n)
{
    return !n->whole.len && !n->fraction.len;
}

/* The exponent with the shift in it; false if it has too many digits for that. */
static bool small_exponent(const struct decimal *n, int64_t *out)
{
    int64_t e = 0;

    if (n->exponent.len > EXPONENT_DIGITS)
        return false;
    for (size_t i = 0; i < n->exponent.len; i++)
        e = e * 10 + (n->exponent.at[i] - '0');
    *out = (n->exponent_negative ? -e : e) + n->shift;
    return true;
}

static bool append_digits(uint64_t *value, struct str more)
{
    for (size_t i = 0; i < more.len; i++)
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(more.at[i] - '0'), value))
            return false;
    return true;
}

/* Nearly every number: a few digits and nothing else. */
static bool parse_plain_int(struct str number, int64_t *out)
{
    int64_t value = 0;

    if (number.len > EXPONENT_DIGITS)
        return false;
    for (size_t i = 0; i < number.len; i++) {
        if (!ascii_is_digit(number.at[i]))
            return false;
        value = value * 10 + (number.at[i] - '0');
    }
    *out = value;
    return true;
}

static bool parse_any_int(struct str number, int64_t *out)
{
    struct decimal n = parse_decimal(number);
    uint64_t value = 0, most = (uint64_t)INT64_MAX + n.negative;
    int64_t exponent;

    if (is_zero(&n)) {
        *out = 0;
        return true;
    }
    if (!small_exponent(&n, &exponent) || exponent < 0 || exponent > 19)
        return false;
    if (!append_digits(&value, n.whole) || !append_digits(&value, n.fraction) ||
        !append_digits(&value, str_n("0000000000000000000", (size_t)exponent)) || value > most)
        return false;
    *out = n.negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

bool json_number_int(struct str number, int64_t *out)
{
    return parse_plain_int(number, out) || parse_any_int(number, out);
}

/* EXPONENT + shift by hand. The exponent is so much larger that its sign stays. */
static void add_large_exponent(const struct decimal *n, struct buf *to)
{
    size_t len = n->exponent.len;
    char *sum = buf_reserve(to, len + 1);
    int64_t carry = n->exponent_negative ? -n->shift : n->shift;
    struct str result;

    if (!sum)
        return;
    for (size_t i = len; i--;) {
        int64_t digit = n->exponent.at[i] - '0' + carry % 10;
        carry = carry / 10 + (digit > 9) - (digit < 0);
        sum[i + 1] = (char)('0' + (digit + 10) % 10);
    }
    sum[0] = (char)('0' + carry);
    result = without_front_zeros(str_n(sum, len + 1));
    memmove(sum, result.at, result.len);
    buf_commit(to, result.len);
}

/* Writes a plain integer: its trailing zeros become the exponent. */
static bool add_plain(struct str number, struct buf *to)
{
    struct str rest = number, short_of_zeros = without_end_zeros(number);

    if (number.at[0] == '0' || read_digits(&rest).len < number.len)
        return false;
    buf_add(to, short_of_zeros);
    buf_add_ch(to, 'e');
    buf_add_int(to, (int64_t)(number.len - short_of_zeros.len));
    return true;
}

void json_number_normalize(struct str number, struct buf *to)
{
    struct decimal n;
    int64_t exponent;

    if (add_plain(number, to))
        return;
    n = parse_decimal(number);
    if (is_zero(&n)) {
        buf_add_ch(to, '0');
        return;
    }
    if (n.negative)
        buf_add_ch(to, '-');
    buf_add(to, n.whole);
    buf_add(to, n.fraction);
    buf_add_ch(to, 'e');
    if (small_exponent(&n, &exponent)) {
        buf_add_int(to, exponent);
        return;
    }
    if (n.exponent_negative)
        buf_add_ch(to, '-');
    add_large_exponent(&n, to);
}

bool json_number_is_integer(struct str number)
{
    struct decimal n = parse_decimal(number);
    int64_t exponent;

    if (is_zero(&n))
        return true;
    return small_exponent(&n, &exponent) ? exponent >= 0 : !n.exponent_negative;
}

/* Significant digits, without a zero at either end. */
static size_t digit_count(const struct decimal *n)
{
    return n->whole.len + n->fraction.len;
}

static char digit_at(const struct decimal *n, size_t i)
{
    if (i < n->whole.len)
        return n->whole.at[i];
    i -= n->whole.len;
    return i < n->fraction.len ? n->fraction.at[i] : '0';
}

static int compare_digits(const struct decimal *a, const struct decimal *b)
{
    size_t most = digit_count(a) > digit_count(b) ? digit_count(a) : digit_count(b);

    for (size_t i = 0; i < most; i++)
        if (digit_at(a, i) != digit_at(b, i))
            return digit_at(a, i) < digit_at(b, i) ? -1 : 1;
    return 0;
}

/* Neither is zero. */
static bool compare_magnitudes(const struct decimal *a, const struct decimal *b, int *order)
{
    int64_t left, right;

    if (!small_exponent(a, &left) || !small_exponent(b, &right))
        return false;
    left += (int64_t)digit_count(a);
    right += (int64_t)digit_count(b);
    *order = left != right ? (left > right) - (left < right) : compare_digits(a, b);
    return true;
}

static int sign(const struct decimal *n)
{
    return is_zero(n) ? 0 : n->negative ? -1 : 1;
}

bool json_number_compare(struct str a, struct str b, int *order)
{
    struct decimal left = parse_decimal(a), right = parse_decimal(b);

    *order = sign(&left) - sign(&right);
    if (*order || !sign(&left))
        return true;
    if (!compare_magnitudes(&left, &right, order))
        return false;
    *order *= sign(&left);
    return true;
}

static uint64_t digits_modulo(struct str digits, uint64_t so_far, uint64_t divisor)
{
    for (size_t i = 0; i < digits.len; i++)
        so_far = (so_far * 10 + (uint64_t)(digits.at[i] - '0')) % divisor;
    return so_far;
}

bool json_number_multiple(struct str number, struct str of, bool *multiple)
{
    /* A divisor below 2^60 has no more factors of 2 or 5 than this many tens. */
    enum { TENS = 60 };
    struct decimal n = parse_decimal(number), d = parse_decimal(of);
    uint64_t divisor = 0, rest;
    int64_t of_exponent, exponent = 0;

    /* So the remainder times ten, and a digit, fit 64 bits. */
    if (is_zero(&d) || digit_count(&d) > EXPONENT_DIGITS || !append_digits(&divisor, d.whole) ||
        !append_digits(&divisor, d.fraction) || !small_exponent(&d, &of_exponent) ||
        (!is_zero(&n) && !small_exponent(&n, &exponent)))
        return false;
    /* The digits of `n` do not end in zero: they are no multiple of ten. */
    *multiple = is_zero(&n);
    if (*multiple || exponent < of_exponent)
        return true;
    rest = digits_modulo(n.fraction, digits_modulo(n.whole, 0, divisor), divisor);
    for (int i = 0; i < TENS && rest && exponent > of_exponent; i++, exponent--)
        rest = rest * 10 % divisor;
    *multiple = rest == 0;
    return true;
}
