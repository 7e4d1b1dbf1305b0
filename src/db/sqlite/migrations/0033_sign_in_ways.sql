CREATE TABLE `identities` (
	`id` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`provider` text NOT NULL,
	`email` text,
	`created_at_ms` integer NOT NULL,
	`last_used_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_subject` ON `identities` (`issuer`,`subject`);--> statement-breakpoint
CREATE INDEX `identities_person` ON `identities` (`person_id`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`person_id` text NOT NULL,
	`name` text NOT NULL,
	`public_key` text NOT NULL,
	`uses` integer NOT NULL,
	`transports` text NOT NULL,
	`is_synced` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`last_used_at_ms` integer
);
--> statement-breakpoint
CREATE INDEX `passkeys_person` ON `passkeys` (`person_id`);--> statement-breakpoint
CREATE TABLE `second_factors` (
	`person_id` text PRIMARY KEY NOT NULL,
	`secret` text NOT NULL,
	`recovery_digests` text NOT NULL,
	`confirmed_at_ms` integer,
	`last_step` integer NOT NULL,
	`failures` integer NOT NULL,
	`locked_until_ms` integer,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `members` ADD `identity_id` text;--> statement-breakpoint
ALTER TABLE `people` ADD `operator_identity_id` text;--> statement-breakpoint
ALTER TABLE `people` ADD `password_until_ms` integer;--> statement-breakpoint
ALTER TABLE `sessions` ADD `identity_id` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `way` text;