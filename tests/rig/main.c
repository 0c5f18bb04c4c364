// Linked into tests that have no main() of their own.
#include "rig/rig.h"

int main(void) {
    return run_listed_tests();
}
