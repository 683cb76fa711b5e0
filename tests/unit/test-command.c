#include "cmd/command.h"
#include "test.h"

int main(void)
{
    return 0;
}
