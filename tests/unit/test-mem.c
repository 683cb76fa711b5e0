#include "base/mem.h"
#include "test.h"

int main(void)
{
    return 0;
}
