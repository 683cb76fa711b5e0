#include "base/str.h"
#include "test.h"

int main(void)
{
    return 0;
}
