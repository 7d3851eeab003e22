/* The few names of libpartita_scalapack.so that are not ScaLAPACK's own.
 *
 * Most programs need none of them: linked before ScaLAPACK, or preloaded, the library finds the program's BLACS and
 * ScaLAPACK by the loader's order.
 *
 * Both in one process, side by side (benchmarks, tests): open each with RTLD_LOCAL, say where BLACS is, and take each
 * p?gemm_ from its own handle. Neither then stands in for the other:
 *
 *   void* reference = dlopen("libscalapack-openmpi.so", RTLD_NOW | RTLD_LOCAL);
 *   void* ours = dlopen("libpartita_scalapack.so", RTLD_NOW | RTLD_LOCAL);
 *   void (*use)(void*) = dlsym(ours, "partita_scalapack_use");
 *   use(reference);                       // before the first call of ours
 *   theirs_pdgemm = dlsym(reference, "pdgemm_");
 *   ours_pdgemm = dlsym(ours, "pdgemm_");   // on grids and descriptors of the reference's BLACS
 *
 * `ours` then hands what it does not compute itself (small problems) to the reference's p?gemm_. */
#ifndef PARTITA_SCALAPACK_H
#define PARTITA_SCALAPACK_H

#ifdef __cplusplus
extern "C" {
#endif

/* BLACS, pxerbla_ and the routines that calls are handed on to are looked up in this handle of dlopen first. Local;
 * call it before any other routine of the library, from one thread. The handle must stay open. */
void partita_scalapack_use(void* handle);

/* Calls that this process has computed itself so far, those that it has handed on, and of the former those that GPUs have
 * multiplied. Local. */
long partita_scalapack_calls(void);
long partita_scalapack_calls_handed_on(void);
long partita_scalapack_calls_on_devices(void);

#ifdef __cplusplus
}
#endif

#endif
