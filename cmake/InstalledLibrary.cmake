# The library that was built and installed before, into a folder that has the package's layout: all of it becomes part of the
# package of which only the extension is compiled here.
find_package(fmt REQUIRED)
find_path(PARTITA_DLPACK_INCLUDE NAMES dlpack/dlpack.h REQUIRED)
mark_as_advanced(PARTITA_DLPACK_INCLUDE)
add_library(partita::partita SHARED IMPORTED GLOBAL)
set_target_properties(
  partita::partita
  PROPERTIES IMPORTED_LOCATION ${PARTITA_INSTALLED}/partita/libpartita.so
             INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include;${PROJECT_BINARY_DIR}/generated/include"
             INTERFACE_COMPILE_FEATURES cxx_std_20)
set(PARTITA_FMT fmt::fmt-header-only)
install(DIRECTORY ${PARTITA_INSTALLED}/partita DESTINATION . COMPONENT python USE_SOURCE_PERMISSIONS)
