#include "util.h"

int answer(void) { return 6 * 7; }
