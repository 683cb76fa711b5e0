#include "base/buf.h"
#include "test.h"

int main(void)
{
    return 0;
}
