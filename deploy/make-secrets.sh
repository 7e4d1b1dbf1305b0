#!/bin/sh
# Writes the passwords and URLs that compose.yaml reads into a new folder: sh deploy/make-secrets.sh [FOLDER]
set -eu
folder=${1:-secrets}
if [ -e "$folder" ]; then
  echo "$folder exists: nothing was written." >&2
  exit 1
fi
umask 077
mkdir "$folder"
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
postgres=$(random)
redis=$(random)
printf %s "$postgres" > "$folder/postgres_password"
printf %s "$redis" > "$folder/redis_password"
printf %s "postgres://tollgate:$postgres@postgres:5432/tollgate" > "$folder/database_url"
printf %s "redis://:$redis@redis:6379" > "$folder/redis_url"
# Containers read them as users of their own. The folder keeps others on this machine out.
chmod 444 "$folder"/*
