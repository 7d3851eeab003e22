# For Spack 1.0 and newer: copy to packages/partita/package.py of a repository of your own (spack repo create).
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Partita(CMakePackage, CudaPackage):
    """Distributed arrays on CPUs and NVIDIA GPUs in any distribution: redistribution, matrix multiply, Fourier transforms,
    collectives, halo exchange and parallel files."""

    homepage = "https://github.com/partita/partita"
    git = "https://github.com/partita/partita.git"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Modules for the MPI of this build")
    variant("python", default=True, description="The Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@9:")
    depends_on("spdlog@1.9:")
    depends_on("nlohmann-json@3.10:")
    depends_on("cli11@2:")
    depends_on("dlpack")
    depends_on("hdf5~mpi")
    depends_on("libpng")
    depends_on("giflib")
    depends_on("zlib-api")
    # Opened at run time, where the RPATH of what is linked says.
    depends_on("openblas")
    depends_on("fftw@3.3: precision=float,double")
    depends_on("openmpi", when="+mpi")
    depends_on("cuda@12.5:", when="+cuda")
    with when("+python"):
        extends("python@3.9:")
        depends_on("py-nanobind@2.9:2", type="build")
        depends_on("py-numpy", type=("build", "run"))

    generator("ninja")
    conflicts("%gcc@:10", msg="C++20 needs GCC 11 or newer")

    def cmake_args(self):
        args = [
            self.define("PARTITA_TESTS", False),
            self.define("PARTITA_UNITY", True),
            self.define("PARTITA_MPI", "openmpi" if self.spec.satisfies("+mpi") else "none"),
            self.define("PARTITA_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("PARTITA_PYTHON", self.spec["python"].command.path))
        if self.spec.satisfies("+cuda") and "none" not in self.spec.variants["cuda_arch"].value:
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args
