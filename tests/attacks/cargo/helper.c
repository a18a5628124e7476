// A harmless program in the workspace, for attacks that swap it with a forbidden one.
int main(void) { return 0; }
