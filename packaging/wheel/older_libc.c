// What the C library has only since a version after 2.28, for programs that are linked by older_libraries.py.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

// 2.33: stat and its kin. Before, headers called these, with the version of the structure, 1.
int __xstat(int version, const char* path, struct stat* found);
int __lxstat(int version, const char* path, struct stat* found);
int __fxstat(int version, int file, struct stat* found);
int __fxstatat(int version, int folder, const char* path, struct stat* found, int flags);
int stat(const char* path, struct stat* found) { return __xstat(1, path, found); }
int lstat(const char* path, struct stat* found) { return __lxstat(1, path, found); }
int fstat(int file, struct stat* found) { return __fxstat(1, file, found); }
int fstatat(int folder, const char* path, struct stat* found, int flags) {
  return __fxstatat(1, folder, path, found, flags);
}
int stat64(const char*, struct stat64*) __attribute__((alias("stat")));
int lstat64(const char*, struct stat64*) __attribute__((alias("lstat")));
int fstat64(int, struct stat64*) __attribute__((alias("fstat")));
int fstatat64(int, const char*, struct stat64*, int) __attribute__((alias("fstatat")));

// 2.32: whether the process has one thread. It always may have more: counters are atomic.
char __libc_single_threaded = 0;

// 2.30: waits by a clock. What the older functions wait by is the clock of the day.
static struct timespec on_clock_of_day(clockid_t clock, const struct timespec* until) {
  if (clock == CLOCK_REALTIME) return *until;
  struct timespec here, day;
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &day);
  const int64_t second = 1000000000;
  int64_t when = (day.tv_sec - here.tv_sec + until->tv_sec) * second + day.tv_nsec - here.tv_nsec + until->tv_nsec;
  if (when < 0) when = 0;
  const struct timespec answer = {when / second, when % second};
  return answer;
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec day = on_clock_of_day(clock, until);
  return pthread_cond_timedwait(condition, mutex, &day);
}
int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec day = on_clock_of_day(clock, until);
  return pthread_mutex_timedlock(mutex, &day);
}

// 2.36.
uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) {
  }
  return number;
}

// 2.38: headers call these, which read C23's binary numbers too, in place of the functions of the same name.
#define OF_C23(type, name)                                                  \
  type name##_before_c23(const char*, char**, int) __asm__(#name);          \
  type __isoc23_##name(const char* text, char** end, int base);             \
  type __isoc23_##name(const char* text, char** end, int base) { return name##_before_c23(text, end, base); }
OF_C23(long, strtol)
OF_C23(unsigned long, strtoul)
OF_C23(long long, strtoll)
OF_C23(unsigned long long, strtoull)
int vsscanf_before_c23(const char*, const char*, va_list) __asm__("vsscanf");
int vfscanf_before_c23(FILE*, const char*, va_list) __asm__("vfscanf");
int __isoc23_sscanf(const char* text, const char* format, ...);
int __isoc23_fscanf(FILE* file, const char* format, ...);
int __isoc23_sscanf(const char* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int read = vsscanf_before_c23(text, format, arguments);
  va_end(arguments);
  return read;
}
int __isoc23_fscanf(FILE* file, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int read = vfscanf_before_c23(file, format, arguments);
  va_end(arguments);
  return read;
}
