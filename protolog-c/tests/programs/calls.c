/* For a look at the code of a call that is off, and of the messages that are compared. */
#include <protolog.h>

PROTOLOG_GROUPS(AppLog, Net)

void off(int a);
void nothing(int a);

void off(int a) { protolog_d(AppLog, Net, "off %d", a); }
void nothing(int a) { (void)a; }
