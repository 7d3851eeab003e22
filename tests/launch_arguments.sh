# Sourced, with the arguments LAUNCHER [FLAGS...] -- REST...: leaves the command in $launch, the flag before the
# number of ranks in $count, REST in "$@", and a folder for the exit codes of the ranks, which is removed when the script
# ends, in $codes.
launch=""
while [ "$1" != -- ]; do
  launch="$launch $1"
  shift
done
shift
case $launch in
  *' --threads') count="" ;; # of partita run
  *) count=-n ;;
esac
codes=$(mktemp -d)
trap 'rm -rf "$codes"' EXIT
