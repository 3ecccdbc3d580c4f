# `cmake --install build --prefix P` and `cpack`. Nothing that is installed names a folder of the
# build, or the prefix: it works wherever the prefix is moved to.
#
#   bin/fovea                the command
#   share/fovea              what it and models read, in the folders of the sources
#   lib/fovea                what programs link
#   include/fovea            a link to the headers of the runtime
#   lib/cmake/fovea          find_package(fovea)
#   lib/pkgconfig/fovea.pc   pkg-config fovea
#   share/man/man1           fovea.1, and a page for each subcommand
#   share/bash-completion, share/zsh   completion of command lines
include(CMakePackageConfigHelpers)

foreach(folder BINDIR DATADIR LIBDIR INCLUDEDIR)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
        message(FATAL_ERROR "CMAKE_INSTALL_${folder} is a folder of the prefix, such as lib, and not "
            "'${CMAKE_INSTALL_${folder}}': what is installed may be moved")
    endif()
endforeach()

# From the prefix.
set(command ${CMAKE_INSTALL_BINDIR}/fovea)
set(sources ${CMAKE_INSTALL_DATADIR}/fovea)
set(archives ${CMAKE_INSTALL_LIBDIR}/fovea)
set(headers ${CMAKE_INSTALL_INCLUDEDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fovea)
set(made ${PROJECT_BINARY_DIR}/package)

install(TARGETS fovea RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fovea_runtime fovea_bundle ARCHIVE DESTINATION ${archives})

# fovea_sources(FOLDER patterns): files of it and of the folders in it.
function(fovea_sources folder)
    set(matching ${ARGN})
    list(TRANSFORM matching PREPEND "PATTERN;")
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${sources}/${folder}
        FILES_MATCHING ${matching})
endfunction()
fovea_sources(dsl *.h)
fovea_sources(models *.h)
foreach(folder base graph ops)
    fovea_sources(codegen/${folder} *.h)
endforeach()
fovea_sources(codegen/emit compiler_flags.def)
fovea_sources(runtime *.h *.cpp *.py)
fovea_sources(tools/cmake fovea_add_model.cmake fovea_add_generator.cmake)
# Of `fovea bench` and `fovea bundle`.
fovea_sources(tools/fovea/bench/probe *.cpp)
fovea_sources(tools/bundle *.h *.cpp)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/bundle/check.sh DESTINATION ${sources}/tools/bundle)
install(FILES ${PROJECT_SOURCE_DIR}/tools/peers/gpu.py ${PROJECT_SOURCE_DIR}/tools/peers/gpu_model.py
    ${PROJECT_SOURCE_DIR}/tools/peers/ratios.py DESTINATION ${sources}/tools/peers)

file(RELATIVE_PATH link /${headers} /${sources}/runtime)
file(MAKE_DIRECTORY ${made}/include)
file(CREATE_LINK ${link} ${made}/include/fovea SYMBOLIC)
install(FILES ${made}/include/fovea DESTINATION ${headers})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fovea-config.cmake.in
    ${made}/fovea-config.cmake INSTALL_DESTINATION ${package}
    PATH_VARS command sources archives headers)
write_basic_package_version_file(${made}/fovea-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${made}/fovea-config.cmake ${made}/fovea-config-version.cmake DESTINATION ${package})

file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
configure_file(${CMAKE_CURRENT_LIST_DIR}/fovea.pc.in ${made}/fovea.pc @ONLY)
install(FILES ${made}/fovea.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Manual pages and completion, from the command itself, where it runs here.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    set(run ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${CMAKE_CROSSCOMPILING_EMULATOR}
        $<TARGET_FILE:fovea> help)
    add_custom_command(TARGET fovea POST_BUILD
        COMMAND ${run} --man -o ${made}/man1
        COMMAND ${run} --completion bash > ${made}/fovea.bash
        COMMAND ${run} --completion zsh > ${made}/_fovea
        COMMENT "Writing fovea's manual pages" VERBATIM)
    install(DIRECTORY ${made}/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${made}/fovea.bash RENAME fovea
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    foreach(folder site-functions vendor-completions)  # zsh's own, and Debian's
        install(FILES ${made}/_fovea DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder})
    endforeach()
endif()

# `cpack` in the build folder makes a Debian package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fovea)
set(CPACK_PACKAGE_VENDOR fovea)
set(CPACK_PACKAGE_CONTACT "fovea <fovea@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "models as C++ functions, written out as fused C++ and PTX")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Models and what is written of them are compiled on the spot; the archives call its OpenMP.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "clang-19, libomp-19-dev, libstdc++-12-dev")
else()
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++ (>= 4:12)")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config")
include(CPack)
