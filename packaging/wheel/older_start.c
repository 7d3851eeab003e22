// The start of a program that is linked by older_libraries.py. Since 2.34 the C library calls a program's constructors; before,
// the program gave it a function that did.
typedef void initializer(int, char**, char**);
extern initializer* __preinit_array_start[] __attribute__((visibility("hidden")));
extern initializer* __preinit_array_end[] __attribute__((visibility("hidden")));
extern initializer* __init_array_start[] __attribute__((visibility("hidden")));
extern initializer* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);
static void initialize(int count, char** arguments, char** environment) {
  for (initializer** one = __preinit_array_start; one < __preinit_array_end; ++one) (*one)(count, arguments, environment);
  _init();
  for (initializer** one = __init_array_start; one < __init_array_end; ++one) (*one)(count, arguments, environment);
}
typedef int program(int, char**, char**);
int __real___libc_start_main(program*, int, char**, initializer*, void (*)(void), void (*)(void), void*);
int __wrap___libc_start_main(program* main, int count, char** arguments, initializer* init, void (*fini)(void), void (*exit)(void),
                             void* stack) {
  (void)init;
  return __real___libc_start_main(main, count, arguments, initialize, fini, exit, stack);
}
