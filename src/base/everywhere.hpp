// Code that runs on hosts and devices alike.
#pragma once

#ifdef __CUDACC__
#define PARTITA_EVERYWHERE __host__ __device__
#else
#define PARTITA_EVERYWHERE
#endif
