#include "trace/operation.h"

#include "plays.h"
#include "tally.h"
#include "test.h"

int main(void)
{
    const struct CMUnitTest tests[] = { { 0 } };
    return plays_run("operation", tests, 0, "tests/operations/*.play", tally_play);
}
