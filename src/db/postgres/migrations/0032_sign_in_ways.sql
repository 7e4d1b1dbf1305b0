CREATE TABLE "identities" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"person_id" text COLLATE "C" NOT NULL,
	"issuer" text COLLATE "C" NOT NULL,
	"subject" text COLLATE "C" NOT NULL,
	"provider" text COLLATE "C" NOT NULL,
	"email" text COLLATE "C",
	"created_at_ms" bigint NOT NULL,
	"last_used_at_ms" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"person_id" text COLLATE "C" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"public_key" text COLLATE "C" NOT NULL,
	"uses" bigint NOT NULL,
	"transports" text COLLATE "C" NOT NULL,
	"is_synced" boolean NOT NULL,
	"created_at_ms" bigint NOT NULL,
	"last_used_at_ms" bigint
);
--> statement-breakpoint
CREATE TABLE "second_factors" (
	"person_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"secret" text COLLATE "C" NOT NULL,
	"recovery_digests" text COLLATE "C" NOT NULL,
	"confirmed_at_ms" bigint,
	"last_step" bigint NOT NULL,
	"failures" bigint NOT NULL,
	"locked_until_ms" bigint,
	"created_at_ms" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "members" ADD COLUMN "identity_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "operator_identity_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "people" ADD COLUMN "password_until_ms" bigint;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "identity_id" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "way" text COLLATE "C";--> statement-breakpoint
CREATE UNIQUE INDEX "identities_subject" ON "identities" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "identities_person" ON "identities" USING btree ("person_id");--> statement-breakpoint
CREATE INDEX "passkeys_person" ON "passkeys" USING btree ("person_id");