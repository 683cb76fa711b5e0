#include "cmd/option.h"
#include "test.h"

int main(void)
{
    return 0;
}
