CREATE TABLE "instance" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"instance_id" text COLLATE "C" NOT NULL,
	"epoch" bigint DEFAULT 1 NOT NULL,
	"restored_from" text COLLATE "C",
	"backup_at_ms" bigint,
	"restored_at_ms" bigint,
	"served_at" text COLLATE "C"
);
--> statement-breakpoint
INSERT INTO "instance" ("id", "instance_id") VALUES ('this', replace(gen_random_uuid()::text, '-', ''));
