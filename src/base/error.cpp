#include <partita/error.hpp>

// Out-of-line destructors give each class one home for its type information, so that an exception thrown in
// the shared library is caught by type in the program.
namespace partita {

Error::~Error() = default;
ArgumentError::~ArgumentError() = default;
DisagreementError::~DisagreementError() = default;
UnsupportedError::~UnsupportedError() = default;
MemoryError::~MemoryError() = default;
FileError::~FileError() = default;
SingularError::~SingularError() = default;
TimeoutError::~TimeoutError() = default;
LostPeerError::~LostPeerError() = default;
FailedContextError::~FailedContextError() = default;

}  // namespace partita
