#include "bench-json-libs.h"

#include <rapidjson/document.h>
#include <simdjson.h>

static char pool[64 << 20];

bool bench_rapidjson_parse(const char *text, size_t len)
{
    const unsigned flags =
        rapidjson::kParseValidateEncodingFlag | rapidjson::kParseNumbersAsStringsFlag;
    rapidjson::MemoryPoolAllocator<> memory(pool, sizeof pool);
    rapidjson::Document d(&memory);

    d.Parse<flags>(text, len);
    return !d.HasParseError();
}

bool bench_simdjson_parse(const char *text, size_t len, size_t readable)
{
    static simdjson::dom::parser parser;
    simdjson::dom::element e;
    bool copy = readable - len < simdjson::SIMDJSON_PADDING;

    return parser.parse(text, len, copy).get(e) == simdjson::SUCCESS;
}
