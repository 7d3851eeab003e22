# Sourced, with the arguments LAUNCHER [FLAGS...] -- REST...: leaves the command in $launch, REST in "$@", and a
# folder for the exit codes of the ranks, which goes when the script ends, in $codes.
launch=""
while [ "$1" != -- ]; do
  launch="$launch $1"
  shift
done
shift
codes=$(mktemp -d)
trap 'rm -rf "$codes"' EXIT
