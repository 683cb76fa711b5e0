#include "cmd/option-value.h"
#include "test.h"

int main(void)
{
    return 0;
}
