#include "runtime/groups/mpi_choice.hpp"

#include "support/test.hpp"

namespace partita::runtime {
namespace {

using enum MpiFamily;

const std::vector<MpiFamily> both{open_mpi, mpich};
const LoadedMpi loaded_open_mpi{"/usr/lib/libmpi.so.40", "Open MPI v4.1.4, package: Debian OpenMPI", false};
const LoadedMpi loaded_mpich{"/usr/lib/libmpich.so.12", "MPICH Version: 4.0.2", false};

LoadedMpi running(LoadedMpi mpi) {
  mpi.running = true;
  return mpi;
}

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::string_view {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string_view() : found->second;
  };
}

const Environment nothing = environment({});
const Environment of_open_mpi = environment({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "0"}});
const Environment of_hydra = environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"PMI_FD", "7"}});

Communicator communicator_of(const std::string& implementation) {
  Communicator communicator;
  communicator.handle_bytes = 8;
  communicator.implementation = implementation;
  return communicator;
}

MpiChoice choose(const std::vector<LoadedMpi>& loaded, const Environment& variables,
                 const std::vector<MpiFamily>& modules = both) {
  return choose_mpi({}, loaded, variables, modules);
}

template <class Exception>
std::string refusal(const Communicator& communicator, const std::vector<LoadedMpi>& loaded,
                    const Environment& variables, const std::vector<MpiFamily>& modules) {
  return caught<Exception>([&] { choose_mpi(communicator, loaded, variables, modules); });
}

using Paths = std::vector<std::string>;

TEST(MpiChoice, KnowsFamiliesByWhatTheirLibrariesSay) {
  for (const char* const text :
       {"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI v5.0.1", "Open MPI 4"})
    EXPECT_EQ(family_of(text), open_mpi) << text;
  for (const char* const text :
       {"MPICH Version: 4.0.2", "MPICH 4", "Intel(R) MPI Library 2021.11 for Linux* OS",
        "MVAPICH2 Version : 2.3.7", "MPI VERSION    : CRAY MPICH version 8.1.29.46 (ANL base 3.4a2)"})
    EXPECT_EQ(family_of(text), mpich) << text;
  for (const char* const text : {"", "HPE MPT 2.28", "an unknown MPI"})
    EXPECT_EQ(family_of(text), std::nullopt) << text;
}

TEST(MpiChoice, WithoutLauncherThereIsNone) {
  EXPECT_TRUE(choose({}, nothing).libraries.empty());
  EXPECT_EQ(choose({}, nothing).why, "this process was not started by an MPI launcher and has loaded no MPI");
  EXPECT_TRUE(choose({}, environment({{"PARTITA_MPI_LIBRARY", "libmpi.so.12"}})).libraries.empty());
  // A library that is loaded without running, as one of a plug-in's.
  EXPECT_TRUE(choose({loaded_mpich}, nothing).libraries.empty());
  EXPECT_TRUE(contains(choose({loaded_mpich}, nothing).why,
                       "libmpich.so.12, which it has loaded, is not initialised"));
}

TEST(MpiChoice, WhatRunsIsTaken) {
  EXPECT_EQ(choose({running(loaded_mpich)}, nothing).libraries, Paths{loaded_mpich.path});
  EXPECT_EQ(choose({running(loaded_mpich)}, nothing).why, "it runs in this process");
  EXPECT_EQ(choose({loaded_open_mpi, running(loaded_mpich)}, of_open_mpi).libraries,
            Paths{loaded_mpich.path});
}

TEST(MpiChoice, WhatIsLoadedGoesBeforeTheEnvironment) {
  EXPECT_EQ(choose({loaded_mpich}, of_open_mpi).libraries, Paths{loaded_mpich.path});
  EXPECT_EQ(choose({loaded_mpich}, of_open_mpi).why, "the process has loaded it");
  EXPECT_EQ(choose({loaded_mpich, loaded_open_mpi}, of_open_mpi).libraries, Paths{loaded_open_mpi.path});
  EXPECT_EQ(choose({loaded_open_mpi, loaded_mpich}, of_hydra).libraries, Paths{loaded_mpich.path});
  const Environment named = environment({{"PMI_RANK", "0"}, {"PARTITA_MPI_LIBRARY", "/opt/libmpi.so.12"}});
  EXPECT_EQ(choose({loaded_mpich}, named).libraries, Paths{loaded_mpich.path});
  EXPECT_EQ(choose({}, named).libraries, Paths{"/opt/libmpi.so.12"});
  EXPECT_EQ(choose({}, named).why, "PARTITA_MPI_LIBRARY names it");
}

TEST(MpiChoice, TheLauncherSaysWhich) {
  EXPECT_EQ(choose({}, of_open_mpi).libraries, Paths{"libmpi.so.40"});
  EXPECT_EQ(choose({}, of_open_mpi).why, "its launcher started the process (OMPI_COMM_WORLD_SIZE is set)");
  const Paths of_mpich{"libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"};
  EXPECT_EQ(choose({}, of_hydra).libraries, of_mpich);
  EXPECT_EQ(choose({}, of_hydra).why, "its launcher started the process (PMI_RANK is set)");
  EXPECT_EQ(choose({}, environment({{"PALS_RANKID", "3"}, {"PMI_RANK", "3"}})).libraries, of_mpich);
}

TEST(MpiChoice, TheLauncherSaysHowMany) {
  EXPECT_EQ(launched_ranks(of_open_mpi), 4);
  EXPECT_EQ(launched_ranks(of_hydra), 4);
  EXPECT_EQ(launched_ranks(environment({{"SLURM_STEP_NUM_TASKS", "12"}, {"PMIX_RANK", "0"}})), 12);
  EXPECT_EQ(launched_ranks(nothing), 0);
}

// Slurm starts ranks of any MPI: the likelier is tried first, then the other.
TEST(MpiChoice, SchedulersLeaveTheChoice) {
  const Environment of_pmi2 = environment({{"SLURM_PROCID", "0"}, {"PMI_RANK", "0"}});
  EXPECT_EQ(choose({}, of_pmi2).libraries.front(), "libmpi.so.12");
  EXPECT_EQ(choose({}, of_pmi2).libraries.back(), "libmpi.so.40");
  const Environment of_pmix = environment({{"SLURM_PROCID", "0"}, {"PMIX_RANK", "0"}});
  EXPECT_EQ(choose({}, of_pmix).libraries.front(), "libmpi.so.40");
  EXPECT_EQ(choose({}, of_pmix).libraries.size(), 4U);
  EXPECT_EQ(choose({}, of_pmix, {mpich}).libraries.front(), "libmpi.so.12");
  // srun without any such interface: every process is alone.
  EXPECT_TRUE(choose({}, environment({{"SLURM_PROCID", "0"}})).libraries.empty());
}

TEST(MpiChoice, WithoutAModuleItSaysWhatThereIs) {
  EXPECT_EQ(refusal<UnsupportedError>({}, {}, of_hydra, {open_mpi}),
            "a launcher of MPICH started this process (PMI_RANK is set), for which this Partita has no "
            "module (it has: "
            "Open MPI)");
  EXPECT_EQ(refusal<UnsupportedError>({}, {running(loaded_open_mpi)}, nothing, {}),
            "the process has loaded /usr/lib/libmpi.so.40 (Open MPI v4.1.4, package: Debian OpenMPI), for "
            "which this "
            "Partita has no module (it has: none)");
  const LoadedMpi other{"/opt/libmpi.so", "HPE MPT 2.28", true};
  EXPECT_TRUE(contains(refusal<UnsupportedError>({}, {other}, nothing, both), "HPE MPT 2.28"));
}

TEST(MpiChoice, ACommunicatorBringsItsMpi) {
  const Communicator ours = communicator_of("MPICH 4");
  EXPECT_EQ(choose_mpi(ours, {loaded_open_mpi, running(loaded_mpich)}, of_open_mpi, both).libraries,
            Paths{loaded_mpich.path});
  EXPECT_EQ(refusal<ArgumentError>(ours, {running(loaded_open_mpi)}, of_open_mpi, both),
            "the communicator belongs to MPICH 4, but the process has loaded Open MPI v4.1.4, package: "
            "Debian OpenMPI");
  EXPECT_EQ(refusal<ArgumentError>(ours, {}, nothing, both),
            "the communicator belongs to MPICH 4, but the process has loaded no MPI");
  EXPECT_EQ(refusal<UnsupportedError>(communicator_of("an unknown MPI"), {}, nothing, both),
            "the communicator belongs to an unknown MPI, for which this Partita has no module (it has: Open "
            "MPI and "
            "MPICH)");
  EXPECT_EQ(refusal<UnsupportedError>(ours, {running(loaded_mpich)}, nothing, {open_mpi}),
            "the communicator belongs to MPICH 4, for which this Partita has no module (it has: Open MPI)");
}

}  // namespace
}  // namespace partita::runtime
