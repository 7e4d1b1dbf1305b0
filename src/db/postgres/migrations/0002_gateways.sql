CREATE TABLE "gateways" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"has_redis" boolean NOT NULL,
	"seen_at_ms" bigint NOT NULL
);
