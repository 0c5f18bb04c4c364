// The mayfly command as a program. Python's wheel calls the same function.
#include "app.h"

int main(int argc, char **argv) {
    return mf_app_main(argc, argv);
}
