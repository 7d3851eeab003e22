# Installed: headers, library, command, machine descriptions, and the ways to find them: find_package(partita)
# and pkg-config.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/partita)

# Without MPI there is no header that takes its communicators.
set(headers_left_out)
if(NOT PARTITA_HAVE_MPI)
  set(headers_left_out PATTERN mpi.hpp EXCLUDE)
endif()

install(TARGETS partita EXPORT partita-targets)
install(DIRECTORY include/partita ${PROJECT_BINARY_DIR}/generated/include/partita
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.hpp" ${headers_left_out})
install(EXPORT partita-targets NAMESPACE partita:: DESTINATION ${package_dir})
configure_package_config_file(cmake/partita-config.cmake.in generated/partita-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(generated/partita-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/partita-config.cmake
              ${PROJECT_BINARY_DIR}/generated/partita-config-version.cmake DESTINATION ${package_dir})

configure_file(cmake/partita.pc.in generated/partita.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/partita.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET partita_command)
  install(TARGETS partita_command)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/machines)
  install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/partita FILES_MATCHING PATTERN "*.json")
endif()
