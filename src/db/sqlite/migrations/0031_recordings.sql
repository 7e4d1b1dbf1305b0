CREATE TABLE `recording_bytes` (
	`account_id` text PRIMARY KEY NOT NULL,
	`bytes` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `recordings` (
	`account_id` text NOT NULL,
	`request_id` text NOT NULL,
	`key_id` text NOT NULL,
	`master_id` text NOT NULL,
	`created_at_ms` integer NOT NULL,
	`expires_at_ms` integer NOT NULL,
	`sealed` text NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`account_id`, `request_id`)
);
--> statement-breakpoint
CREATE INDEX `recordings_key` ON `recordings` (`account_id`,`key_id`);--> statement-breakpoint
CREATE INDEX `recordings_end` ON `recordings` (`expires_at_ms`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `recording` text;