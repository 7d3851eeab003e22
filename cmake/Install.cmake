# Installed: headers, library, command, machine descriptions, and the ways to find them: find_package(partita)
# and pkg-config.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/partita)

install(TARGETS partita EXPORT partita-targets LIBRARY COMPONENT python)
install(DIRECTORY include/partita ${PROJECT_BINARY_DIR}/generated/include/partita
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN "*.hpp")
install(EXPORT partita-targets NAMESPACE partita:: DESTINATION ${package_dir})
configure_package_config_file(cmake/partita-config.cmake.in generated/partita-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(generated/partita-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/partita-config.cmake
              ${PROJECT_BINARY_DIR}/generated/partita-config-version.cmake DESTINATION ${package_dir})

# partita.pc names all places relative to itself, so that the installed tree may be moved.
list(JOIN PARTITA_MPI_MODULES " " PC_MPI)
set(pc_root ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PC_PREFIX ${pc_root} ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH PC_INCLUDEDIR ${pc_root} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/partita.pc.in generated/partita.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/partita.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET partita_command)
  install(TARGETS partita_command RUNTIME COMPONENT python)
endif()
# The machine descriptions are next to bin/ and lib/ in the build tree too: share/partita/machines.
if(EXISTS ${PROJECT_SOURCE_DIR}/machines)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/partita)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/machines ${PROJECT_BINARY_DIR}/share/partita/machines SYMBOLIC)
  install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/partita FILES_MATCHING PATTERN "*.json")
endif()

# What is installed, without tests and examples: `make install`.
add_custom_target(partita_installed)
set(installed partita partita_command partita_scalapack partita_python_stub)
foreach(name IN LISTS PARTITA_MPI_MODULES)
  list(APPEND installed partita_mpi_${name} partita_peers_${name})
endforeach()
foreach(target IN LISTS installed)
  if(TARGET ${target})
    add_dependencies(partita_installed ${target})
  endif()
endforeach()
