/* tests/integration/transcribe.c - one file into another format: transcribe FORMAT IN OUT */
#include <stdio.h>

#include "format/reader.h"
#include "format/writer.h"

static void say(void *to, struct str line)
{
    fwrite(line.at, 1, line.len, to);
}

int main(int argc, char **argv)
{
    struct log log = { .put = say, .to = stderr };
    const struct format *format = argc == 4 ? format_by_name(str_z(argv[1])) : NULL;
    struct err e = ERR_NONE;
    struct writer w;

    if (!format)
        return 2;
    if (writer_open_whole(&w, &sys_real, argv[3], false, format, &e) &&
        reader_pour(&sys_real, argv[2], &log, &w.sink, &e) && writer_finish(&w, &e))
        return 0;
    fprintf(stderr, "%s\n", e.msg);
    return 3;
}
