CREATE TABLE `runs` (
	`key_id` text NOT NULL,
	`run_id` text NOT NULL,
	`account_id` text NOT NULL,
	`amount` integer NOT NULL,
	`day` integer NOT NULL,
	PRIMARY KEY(`key_id`, `run_id`)
);
--> statement-breakpoint
CREATE INDEX `runs_key_day` ON `runs` (`key_id`,`day`);--> statement-breakpoint
CREATE TABLE `tag_values` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`tag_key` text NOT NULL,
	`value` text NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `tag_key`, `value`)
);
--> statement-breakpoint
ALTER TABLE `accounts` ADD `end_users` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `tag_keys` text;--> statement-breakpoint
ALTER TABLE `accounts` ADD `has_scopes` integer DEFAULT false NOT NULL;