#include "yaml/yaml-out.h"

#include "terse.h"
#include "test.h"
#include "yaml/yaml-json.h"
#include "json/write.h"

enum { TEXT_MAX = 1 << 20 };

struct page {
    struct buf text;
    struct yaml_out o;
};

static void page_init(struct page *p)
{
    buf_init(&p->text, TEXT_MAX);
    p->o = yaml_out_to(&p->text);
}

static void assert_page(struct page *p, const char *want)
{
    assert_str(buf_str(&p->text), str_z(want));
    buf_release(&p->text);
}

/* Reads YAML with libyaml and asserts that it has a value. */
static void assert_read(struct str yaml, struct str want)
{
    struct err e = ERR_NONE;
    struct yaml_tree t;
    struct buf json;

    buf_init(&json, TEXT_MAX);
    if (!yaml_tree_parse(&t, yaml, "out.yaml", &e) || !yaml_json_write(&json, &t, t.root, &e))
        fail_msg("%s in:\n%.*s", e.msg, STR_ARG(yaml));
    assert_str(buf_str(&json), want);
    buf_release(&json);
    yaml_tree_release(&t);
}

/* Writes a text as a member, as an item and as a member of an item, and reads it again. */
static void assert_text_returns(struct str text)
{
    struct buf want;
    struct page p;

    page_init(&p);
    yaml_out_open(&p.o);
    yaml_out_key_str(&p.o, STR("first"), text);
    yaml_out_key(&p.o, STR("list"));
    yaml_out_open(&p.o);
    yaml_out_item(&p.o);
    yaml_out_str(&p.o, text);
    yaml_out_item(&p.o);
    yaml_out_open(&p.o);
    yaml_out_key_str(&p.o, text, text);
    yaml_out_close(&p.o);
    yaml_out_close(&p.o);
    yaml_out_key_plain(&p.o, STR("end"), STR("true"));
    yaml_out_close(&p.o);
    buf_init(&want, TEXT_MAX);
    buf_add(&want, STR("{\"first\":"));
    json_write_str(&want, text);
    buf_add(&want, STR(",\"list\":["));
    json_write_str(&want, text);
    buf_add(&want, STR(",{"));
    json_write_str(&want, text);
    buf_add_ch(&want, ':');
    json_write_str(&want, text);
    buf_add(&want, STR("}],\"end\":true}"));
    assert_read(buf_str(&p.text), buf_str(&want));
    assert_false(str_contains(buf_str(&p.text), STR("${")));
    assert_false(str_contains(buf_str(&p.text), STR("$$")));
    buf_release(&p.text);
    buf_release(&want);
}

static void maps_and_lists_are_indented(void **state)
{
    struct page p;

    (void)state;
    page_init(&p);
    yaml_out_comment(&p.o, "from %s", "x.jsonl");
    yaml_out_space(&p.o);
    yaml_out_open(&p.o);
    yaml_out_key(&p.o, STR("tools"));
    yaml_out_open(&p.o);
    yaml_out_comment(&p.o, "call 1");
    yaml_out_item(&p.o);
    yaml_out_open(&p.o);
    yaml_out_key_str(&p.o, STR("name"), STR("a"));
    yaml_out_key_plain(&p.o, STR("list"), STR("[]"));
    yaml_out_close(&p.o);
    yaml_out_item(&p.o);
    yaml_out_str(&p.o, STR("one\n\n two\n"));
    yaml_out_item(&p.o);
    yaml_out_str(&p.o, STR("one\n\ntwo"));
    yaml_out_close(&p.o);
    yaml_out_key_str(&p.o, STR("on"), STR("tools/call"));
    yaml_out_close(&p.o);
    assert_page(&p, "# from x.jsonl\n"
                    "\n"
                    "tools:\n"
                    "  # call 1\n"
                    "  - name: \"a\"\n"
                    "    list: []\n"
                    "  - \"one\\n\\n two\\n\"\n"
                    "  - |-\n"
                    "    one\n"
                    "\n"
                    "    two\n"
                    "\"on\": \"tools/call\"\n");
}

static const char *const texts[] = {
    "",           "a",       " ",       "\n",         "a\n",       "a\nb",         "a\nb\n",
    "a\nb\n\n",   "\na\nb",  "a\n\nb",  " a\nb",      "a \nb",     "a\n b",        "a\n\tb",
    "a\n\n",      "---",     "---\na",  "a\n---\nb",  "a\n...\nb", "- a\n- b",     "# a\n# b",
    "a: b\nc: d", "yes",     "on",      "~",          "null",      "1e5",          "12:30",
    "\"\\'",      "\\x41",   "%a\n%b",  "a\r\nb",     "a\x7fz",    "\x1b[31m",     "\b\f\v\a",
    "\xc2\x85x",  "\u2028x", "\ufeffx", "\u202ex\ny", "😀\n😀",      "\ufffe",       "\U0010ffff",
    "${HOME}",    "$$",      "$$$${{",  "a\n${b}\n",  "a\n$b\nc",  "{{a}}\n{{b}}", "&a *b !c",
    "<<",         "=",       "x",       "y",          "-",         "--- a",        "? a",
};

static void every_text_comes_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_text_returns(str_z(texts[i]));
    for (unsigned c = 0; c < 128; c++) {
        const char text[] = { 'a', '\n', (char)c, 'b', '\n', (char)c, '\0' };

        assert_text_returns(str_n(text + 2, 1));
        assert_text_returns(str_n(text, 4));
        assert_text_returns(str_n(text, 6));
    }
}

static void long_texts_and_keys_come_back(void **state)
{
    char text[5000];

    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t n = 990; n < 1040; n++)
        assert_text_returns(str_n(text, n));
    text[2500] = '\n';
    assert_text_returns(str_n(text, sizeof text));
}

static void a_text_that_yaml_lacks_is_replaced(void **state)
{
    struct page p;

    (void)state;
    page_init(&p);
    yaml_out_str(&p.o, STR("a\xed\xa0\xbd\xff"
                           "b"));
    assert_page(&p, "\"a\ufffd\ufffd"
                    "b\"\n");
}

static void check_json(const char *json, const char *want)
{
    struct terse_scanned t;
    struct page p;

    page_init(&p);
    yaml_out_json(&p.o, terse_scan(&t, json));
    assert_page(&p, want);
    terse_scanned_release(&t);
}

static void json_becomes_yaml(void **state)
{
    (void)state;
    check_json("{'type':'object','a':[1,[2,[]],{'b':null}],'$ref':'#/x','n':{}}",
               "type: \"object\"\n"
               "a:\n"
               "  - 1\n"
               "  - - 2\n"
               "    - []\n"
               "  - b: null\n"
               "\"$ref\": \"#/x\"\n"
               "\"n\": {}\n");
    check_json("{'k1':1,'k2':2,'k1':3}", "k2: 2\nk1: 3\n");
    check_json("[1e5,1E-5,1.5e+3,-0,true]", "- 1.0e+5\n- 1.0e-5\n- 1.5e+3\n- -0\n- true\n");
    check_json("'`ud83d`ude00`ud83d'", "\"😀\ufffd\"\n");
}

static void members_can_be_skipped(void **state)
{
    static const struct str skipped[] = { STR_INIT("b"), STR_INIT("d"), { 0 } };
    struct terse_scanned t;
    struct page p;

    (void)state;
    page_init(&p);
    yaml_out_open(&p.o);
    yaml_out_members(&p.o, terse_scan(&t, "{'a':1,'b':2,'c':{'b':3},'d':4}"), skipped);
    yaml_out_close(&p.o);
    assert_page(&p, "a: 1\nc:\n  b: 3\n");
    terse_scanned_release(&t);
}

static void strings_can_be_changed(void **state)
{
    struct terse_scanned t;
    struct page p;

    (void)state;
    page_init(&p);
    p.o.change = json_write_str;
    yaml_out_json(&p.o, terse_scan(&t, "{'key':['text']}"));
    assert_page(&p, "key:\n  - \"\\\"text\\\"\"\n");
    terse_scanned_release(&t);
}

static void comments_are_one_safe_line(void **state)
{
    char wide[YAML_OUT_COMMENT_MAX + 2] = "";
    struct page p;

    (void)state;
    page_init(&p);
    yaml_out_comment(&p.o, "a\nb\x1b ${HOME} $$ \u202e%s", "");
    assert_page(&p, "# a\\nb\\x1b $ {HOME} $ $ \\u202e\n");
    page_init(&p);
    memset(wide, 'x', sizeof wide - 1);
    yaml_out_comment(&p.o, "%s", wide);
    assert_int_equal(p.text.len, YAML_OUT_COMMENT_MAX + strlen("# …\n"));
    buf_release(&p.text);
}

static void a_full_buffer_is_seen(void **state)
{
    struct err e = ERR_NONE;
    struct page p;

    (void)state;
    buf_init(&p.text, 4);
    p.o = yaml_out_to(&p.text);
    p.o.change = json_write_str;
    yaml_out_str(&p.o, STR("0123456789"));
    assert_false(buf_ok(&p.text, &e));
    buf_release(&p.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_and_lists_are_indented),
        cmocka_unit_test(every_text_comes_back),
        cmocka_unit_test(long_texts_and_keys_come_back),
        cmocka_unit_test(a_text_that_yaml_lacks_is_replaced),
        cmocka_unit_test(json_becomes_yaml),
        cmocka_unit_test(members_can_be_skipped),
        cmocka_unit_test(strings_can_be_changed),
        cmocka_unit_test(comments_are_one_safe_line),
        cmocka_unit_test(a_full_buffer_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
